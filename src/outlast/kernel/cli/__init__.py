"""Building blocks of commands: the client of a server, options, printing, exit codes."""

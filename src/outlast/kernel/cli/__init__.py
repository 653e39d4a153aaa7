"""What commands are written with: the client of a server, options, printing, exit codes."""

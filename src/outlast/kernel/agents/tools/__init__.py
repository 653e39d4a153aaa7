"""Tools for agents of every kind, one file each. Each function makes a tool from the parts of this server that it
needs."""

"""Tools that agents of every kind use, one file each. Each function makes a tool over the parts of this server that it
needs."""

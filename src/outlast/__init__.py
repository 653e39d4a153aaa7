"""Outlast: runs that outlast the tab, the connection, the process and the sandbox."""

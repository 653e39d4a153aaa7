"""The kernel: work that outlasts the tab, the connection, the process and the sandbox, in rooms on three layers (see
ARCHITECTURE.md); rooms on one layer do not know each other."""

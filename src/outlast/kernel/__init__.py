"""What makes any work outlast the tab, the connection, the process and the sandbox, in rooms on three steps of the
ladder (see ARCHITECTURE.md); peers on one step do not know each other."""

"""The rooms of the core, on three steps of the ladder (see ARCHITECTURE.md); peers on one step do not know each
other."""

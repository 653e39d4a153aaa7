"""The lookup tool of agents: `search_docs`."""

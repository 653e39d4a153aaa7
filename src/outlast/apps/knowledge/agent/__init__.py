"""What agents are given to look things up: the tool `search_docs`."""

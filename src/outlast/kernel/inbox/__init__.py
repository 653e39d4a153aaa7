"""The inbox: all kinds of items that wait for a user."""

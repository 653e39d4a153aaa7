"""The inbox: everything that waits for a user, of whatever kind."""

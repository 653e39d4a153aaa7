"""Guests: agents of other libraries, run as the server's own. Only code that uses a library imports it."""

"""Public web pages: fetched over HTTP, and read as text."""

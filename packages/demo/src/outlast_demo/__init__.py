"""A demo model and an issues tracker: Outlast without a key. The server finds both by their entry points."""

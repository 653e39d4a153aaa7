"""The servers and workers that share one PostgreSQL database.

A *node* is a process with a data directory; its id is the one in that directory, so it stays the same after a restart.
It *lives* while its row was renewed within a lease. `keeper` renews the row and refuses a start beside nodes that do
not fit; `rules` says which do. On SQLite there is one node, and no row. May use: the database and base.
"""

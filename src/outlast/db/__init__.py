"""Storage: one set of tables for two databases, files by content hash.

A *transaction function* is a plain function `fn(tx, …)` that runs inside one transaction: on SQLite on the single
writer thread (several are grouped into one commit), on PostgreSQL through asyncpg. Notifications are registered with
`tx.after_commit`. Queries are in the rooms' `store.py` files; the tables and the meaning of each column in `tables.py`.
"""

"""Storage: one set of tables, two databases, files by content hash.

A *transaction function* is a plain function `fn(tx, …)` that runs inside one transaction: on SQLite on the single
writer thread (several are grouped into one commit), on PostgreSQL through asyncpg. Notifications of others are
registered with `tx.after_commit`. Queries live in the rooms' `store.py` files; the tables and what each column means
in `tables.py`.
"""

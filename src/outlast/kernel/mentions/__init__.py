"""Mentions: places where a user was named and has not looked yet; and the shape of an inbox item.  A user is named in a
message or a comment (`@Name`, or by id), or is assigned a comment (*assigned*). Each is one row, for one user and one
place, *waiting* until they open the place or mark it as read. Users are not notified of their own texts. `rules.py`
finds the names in a text; `inbox_items.py` has the shape of an item, filled by the rooms of threads and documents;
`store.py` stores the rows and returns the inbox changes.

              named, assigned                      opened, read by hand
    (nothing) ───────────────▶ waiting ────────────────────────────────▶ read
        ▲                        │ no longer named, or the place is gone
        └────────────────────────┘

May use: the database. The caller appends the events to the project's log (`inbox.changed`).
"""

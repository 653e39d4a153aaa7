"""Mentions: who was named where, and has not seen it yet; and what one item of an inbox is.

A person is named in a message or a comment (`@Name`, or by id), or is given a comment (*assigned*). Each is one row,
for one person and one place, *waiting* until they open the place or say that they read it. Users are not notified of
their own texts. `rules.py` finds the names in a text; `items.py` is the shape of an inbox item, which the rooms of
threads and documents fill with what waits in theirs; `store.py` keeps the rows and says what is news.

              named, assigned                      opened, read by hand
    (nothing) ───────────────▶ waiting ────────────────────────────────▶ read
        ▲                        │ no longer named, or the place is gone
        └────────────────────────┘

May use: the database. The caller appends the events to the project's log (`inbox.changed`).
"""

"""Users, their API tokens and their browser sessions.

A *user* has a name and a plan. A *token* is a secret that a program sends (`ol_…`, shown once, stored as SHA-256). A
*session* is what a browser's cookie names; it is made by local mode, by exchanging a token, or by accepting an
invitation, and ends with the token it came from. The user found becomes an *actor* (`actor.py`), the one argument
that says on whose behalf an action runs. What an actor may do is decided elsewhere: `kernel/projects/permissions.py`.
"""

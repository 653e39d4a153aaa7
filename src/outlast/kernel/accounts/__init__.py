"""Users, their API tokens and their browser sessions.

A *user* has a name and a plan. A *token* is a secret that a program sends (`ol_…`, shown once, stored as SHA-256). A
*session* belongs to a browser's cookie; it is created by local mode, by exchanging a token, or by accepting an
invitation, and ends with the token it came from. The signed-in user becomes an *actor* (`actor.py`), the argument that
says on whose behalf an action runs. `kernel/projects/permissions.py` decides what an actor may do.
"""

"""Memory: what later conversations can use.

A memory is one line. Its *scope* says whose it is: `person` (one user's own), `project` (all members') or `run` (what
one run did, written when it ends). A *private* project has one member. A run uses the memories of its project; those of
its user only if the project is private, because every member reads a thread's answers. `store.py` decides this in one
statement (`_SITUATION`), for prompts and for recall.
"""

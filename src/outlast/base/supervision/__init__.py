"""Keeps one failure from ending the server.

A *service* runs for as long as the server: the `Supervisor` restarts it for ever, with backoff. An *item* is one thing
that a service looks after (a sandbox, a source, a run, a workspace, a file): the `ItemGuard` tries it again, each item
by itself, five times after its first failure, and then sets it aside. No exception of an item ends its service, and no
exception of a service ends the process. Cancellation passes through both.

`rules.py` says when something is tried again, `causes.py` what an exception was about.
"""

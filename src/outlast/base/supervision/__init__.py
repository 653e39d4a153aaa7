"""Keeps one failure from ending the server.

A *service* runs for as long as the server: the `Supervisor` restarts it forever, with backoff. An *item* is one thing
that a service manages (a sandbox, a source, a run, a workspace, a file): the `ItemGuard` retries each item on its own,
five times after its first failure, and then sets it aside. No exception of an item ends its service, and no exception
of a service ends the process. Cancellation passes through both.

`rules.py` computes the retry delays, `causes.py` finds the cause of an exception.
"""

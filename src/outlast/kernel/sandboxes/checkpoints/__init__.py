"""Checkpoints: a workspace's content at one moment, stored by content hash, to view, compare, restore and fork from.

`outlast_sandbox.checkpoints` defines checkpoints, and saves, compares and restores workspaces. Here, `rules` decides
which are kept, `workspaces` when a folder may be removed; `store` has the rows, `keeper` joins them all, `garbage`
finds blobs without a reference.

A workspace's files are in its folder on this machine (the fast copy, the only one that is ever written to) and, as
of the last tool call, in its newest checkpoint. An *evicted* workspace has only the checkpoint; its next use restores
the folder. If the provider keeps the files on another machine, a new sandbox is filled from the checkpoint.
"""

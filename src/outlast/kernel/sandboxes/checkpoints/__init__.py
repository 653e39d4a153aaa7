"""Checkpoints: a workspace's content at one moment, kept by content hash, to look at, compare, restore and fork from.

`outlast_sandbox.checkpoints` has what a checkpoint holds, and saves, compares and restores workspaces. Here, `rules`
decides what is kept, `workspaces` when a folder may go; `store` has the rows, `keeper` joins them all, `garbage` finds
blobs that nothing names.

A workspace's files lie in its folder on this machine (the fast copy, the only one that is ever written to) and, as
they were after the last tool call, in its newest checkpoint. An *evicted* workspace has the checkpoint alone; its
next use brings the folder back. Where the provider keeps the files on another machine, the checkpoint is what a new
sandbox is filled from.
"""

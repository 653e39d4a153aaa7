"""Checkpoints: a workspace's content at one moment, kept by content hash, to look at, compare, restore and fork from.

`outlast_sandbox.checkpoints` has what a checkpoint holds, and reads a workspace as an enemy may have left it. Here,
`rules` decides what changed, what is kept and when a folder may go; `placing` writes a workspace; `packing` puts
contents into the blobs; `store` has the rows, `keeper` joins them all, `garbage` finds blobs that nobody names.

A workspace's files lie in its folder on this machine (the fast copy, the only one that is ever written to) and, as
they were after the last tool call, in its newest checkpoint. An *evicted* workspace has the checkpoint alone; its
next use brings the folder back. Where the provider keeps the files on another machine, the checkpoint is what a new
sandbox is filled from.
"""

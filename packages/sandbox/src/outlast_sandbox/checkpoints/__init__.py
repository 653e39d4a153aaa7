"""What a workspace holds at one moment: looked at, stored, compared and written back.

`tree.py` is what a checkpoint holds and how it is written down, `manifests.py` stores that; `folder_walk.py` walks and
reads a workspace as an enemy may have left it, through `safe_open.py`, which never follows a link; `scan.py` saves what
is new in it, with `packs.py` into the embedding program's `blobs.py`; `restore.py` writes a folder;
`remote_workspace.py` does both through a sandbox on another machine; `changes.py` compares; `edits.py` makes and
changes trees without a sandbox; `unsynced.py` says what is not on disk yet.
"""

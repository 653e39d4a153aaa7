"""The state of a workspace at one moment: saved, compared and restored.

`tree.py` defines the contents of a checkpoint and their encoding, `manifests.py` stores them. `folder_walk.py` walks
and reads a workspace that may be hostile, through `safe_open.py`, which never follows a link. `folder_save.py` saves
new files, with `packs.py`, into the embedding program's `blobs.py`. `restore.py` writes a folder; `remote_workspace.py`
does both through a sandbox on another machine; `tree_diff.py` compares; `tree_edits.py` creates and changes trees
without a sandbox; `unsynced.py` records folders that are not yet synced to disk.
"""

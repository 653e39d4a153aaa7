"""Backups: a copy of everything that a server holds, and the way back.

A backup is a folder: `database/` (SQLite alone), `blobs/`, `files/` (the rest of the data directory) and, written last
and renamed into place, `manifest.json`. A folder without a manifest is no backup. What can be made again is left out:
`DERIVED` in `places.py` says what and why.

`places` has the paths, `manifest` is the document, `backup`, `restore` and `verification` are the three verbs. Folders
that hostile code may have filled are copied and checked by `outlast_sandbox.folder_copies`.

May use: the sandboxes' checkpoints (which blobs are named) and everything below.
"""

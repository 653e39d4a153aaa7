"""Backups: a copy of all data of a server, and its restore.

A backup is a folder: `database/` (SQLite alone), `blobs/`, `files/` (the rest of the data directory) and, written last
and renamed into place, `manifest.json`. A folder without a manifest is not a backup. Derived data is left out;
`DERIVED` in `places.py` lists it with reasons.

`places` has the paths, `manifest` the document, and `backup`, `restore` and `verification` are the three commands.
Folders that hostile code may have written are copied and checked by `outlast_sandbox.folder_copies`.  May use: the
sandboxes' checkpoints (the blobs they name) and everything below.
"""

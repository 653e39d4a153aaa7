"""What a workspace held at one moment, apart from where the contents are kept.

`tree.py` is what a checkpoint holds and how it is written down; `folder.py` walks and reads a workspace as an enemy may
have left it, through `safe_open.py`, which never follows a link; `unsynced.py` says what is not on disk yet.
"""

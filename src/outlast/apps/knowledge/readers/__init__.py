"""How each kind of source is read: `reader.py` chooses, `web.py`, `folders.py` and `packages.py` do it."""

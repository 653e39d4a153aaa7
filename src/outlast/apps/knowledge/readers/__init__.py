"""How each kind of source is read: `reader.py` chooses, `web.py`, `document_files.py` and `packages.py` do it."""

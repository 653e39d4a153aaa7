"""How sources are read: `reader.py` chooses; `web.py`, `folders.py`, `repositories.py` and `packages.py` read."""

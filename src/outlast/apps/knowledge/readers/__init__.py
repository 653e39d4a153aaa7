"""Readers of sources: `reader.py` chooses; `web.py`, `folders.py`, `repositories.py` and `packages.py` read."""

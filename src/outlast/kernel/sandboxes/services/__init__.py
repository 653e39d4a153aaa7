"""Services: processes that a workspace declares once and that run whenever its sandbox is awake, such as a dev server.

`rules.py` decides, `store.py` holds the declarations, `keeper.py` starts, checks and restarts, `logs.py` keeps the end
of their output.
"""

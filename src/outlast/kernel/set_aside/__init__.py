"""What was set aside: items that failed again and again, and are not tried until an administrator says so.

`kinds.py` names the kinds, `store.py` has the rows, `shelf.py` is what the `ItemGuard` asks and writes to. Rows outlive
the server; every node reads them again when one of them changes (`BELL`).
"""

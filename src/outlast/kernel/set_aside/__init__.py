"""Items that were set aside: they failed repeatedly, and are not retried until an administrator asks for it.
`kinds.py` names the kinds, `store.py` has the rows, `shelf.py` is the storage of the `ItemGuard`. Rows outlive the
server; every node reads them again when one of them changes (`BELL`).
"""

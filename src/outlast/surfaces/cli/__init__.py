"""The command line: `outlast --help`.

Run verbs talk HTTP to a server (`--url` or OUTLAST_URL, `--token` or OUTLAST_TOKEN); only `token` and `migrate` open
the database, for short transactions, which is safe beside a running server. `exits.py` has the exit codes.
"""

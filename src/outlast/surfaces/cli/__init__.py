"""The command line: `outlast --help`.

Most commands send HTTP requests to a server (`--server`, `--token`). The commands under "Server (on its machine)" work
on the data directory; their short transactions are safe beside a running server. `exits.py` has the exit codes.
"""

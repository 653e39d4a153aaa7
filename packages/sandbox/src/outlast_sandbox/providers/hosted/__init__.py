"""Code that providers share whose sandboxes run on another company's machines.

The server puts Outlast's agent into the sandbox, where it runs next to the service's own processes (`startup.py`). Each
connection to it is a process inside that passes lines of base64 between the service's streams and the agent's socket
(`relays.py`). So commands, their stored results and re-attaching work as in the local provider (`handle.py`), and an
adapter only implements how its service starts a process.

The agent runs as the sandbox's user: code inside could disturb it, but that affects only that sandbox.
"""

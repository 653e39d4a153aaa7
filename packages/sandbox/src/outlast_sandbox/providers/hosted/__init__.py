"""What providers share whose sandboxes run on somebody else's machines.

Outlast's agent is put into the sandbox and runs there beside the service's own processes (`startup.py`); each
connection to it is a process in there that passes lines of base64 between the service's streams and the agent's
socket (`relays.py`). So commands, their kept results and re-attaching are those of the local provider
(`handle.py`), and an adapter only says how its service starts a process.

The agent runs as the sandbox's user: code in there could disturb it, which hurts nobody but that sandbox.
"""

"""The agent inside a sandbox: the first process there, and the only one the server talks to.

Standard library only, Python 3.9 or newer, relative imports only: the base layer carries a copy of this folder, which
the sandbox's own Python runs as the package `inside`. Terms: a *connection* is a socket that the server opened, passed
in through the shim; a *request* is one frame on it; an *effect* is a command or an evaluation, identified by the
server's effect id, whose output and result are kept until the server acknowledges them; a *session* is an operation of
a connection over several requests, such as following a process or writing a file.

Start reading at `main.py` (the loop), then `effects.py` (stored results), `commands.py`, `repls.py`, `files.py`.
Interactive use, loaded at its first request: `processes.py`, `outputs.py` (followers and back-pressure), `streams.py`
(pipes), `anyfiles.py`, `watching.py`.
"""

"""The agent inside a sandbox: the first process there, and the only one the server talks to.

Standard library only, Python 3.9 or newer, relative imports only: the base layer carries a copy of this folder,
which the sandbox's own Python runs as the package `inside`. Words: a *connection* is a socket the server opened,
handed in through the shim; a *request* is one frame on it; an *effect* is a command or an evaluation, known by the
server's effect id, whose output and result are kept until the server acknowledges them; a *session* is what a
connection is busy with for several requests, such as following a process or writing a file.

Start reading at `main.py` (the loop), then `effects.py` (what is kept), `commands.py`, `repls.py`, `files.py`.
Interactive use, loaded when it is first asked for: `processes.py`, `outputs.py` (who follows them, and
when they wait), `streams.py` (pipes), `anyfiles.py`, `watching.py`.
"""

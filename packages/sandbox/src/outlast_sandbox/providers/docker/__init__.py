"""The `docker` provider: containers of a Docker or Podman on this machine, through its API on a Unix socket.

`engine.py` is the API client, `plan.py` defines a container, `handshake.py` connects to the agent that starts in it,
`provider.py` creates and finds containers, `sandbox.py` is the server's handle on one. The agent inside is that of the
local provider. It runs in any image that has Python and bash, so commands outlive the server here too.

The engine, the server and the data directory must be on one machine: sockets and folders are mounted into the
container.
"""

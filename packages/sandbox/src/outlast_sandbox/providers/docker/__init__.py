"""The `docker` provider: containers of a Docker or Podman on this machine, through its API on a Unix socket.

`engine.py` speaks the API, `plan.py` writes what a container is made of, `hello.py` meets the agent that starts in it,
`provider.py` makes and finds containers, `sandbox.py` is the server's handle on one. The agent inside is the one of
the local provider, put into any image that has Python and bash, so commands outlive the server here too.

The engine, the server and the data directory share one machine: sockets and folders are handed into the container.
"""

"""Sandboxes on other machines' container engines: the provider `docker` with `[[sandbox.hosts]]`.

`placement.py` chooses the host of a new sandbox, `host.py` is one host and what is known of it, `image.py` puts
Outlast's agent and tools into an image there, `plan.py` defines a container, `multiplex.py` carries all connections
over the stream of one process in it, `sandbox.py` is the server's handle on one, `provider.py` makes and finds them.

Nothing of the server's is mounted and no port is published: everything goes through the engine's own connection.
"""

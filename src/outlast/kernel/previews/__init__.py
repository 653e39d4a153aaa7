"""Previews: the ports of sandboxes, each under its own host name.

`http://3000-sbx-01k….preview.localhost:8400` is port 3000 inside the sandbox `sbx_01k…`. One plain ASGI layer
(`preview_layer.py`) stands in front of the application and takes every request whose host is under the preview domain;
none of them ever reaches the API. A *ticket* (one use, one minute) is issued by an action and exchanged on the preview
host for a *cookie* of that host alone. The cookie is checked before anything is woken, and again when a user loses a
token, a session or a membership. Then the sandbox is woken (`wake.py`), its port is dialled, and HTTP (`proxy.py`) or a
raw upgraded connection such as a WebSocket (`tunnel.py`) is forwarded both ways, at the speed of the slower side.
`outlast_sandbox.ports` has the protocol on the dialled socket, and the pool of idle connections.
"""

"""E2B's protocol, so that programs written for the `e2b` SDKs (Python, JavaScript) work with this server's sandboxes.

Two halves, as the SDKs see them. The *control plane* (`control.py`: make, list, connect, pause, kill; plain JSON,
header `X-API-KEY`) calls `kernel/sandboxes/hosted_actions.py`. *envd* is the daemon that E2B runs inside each machine:
processes and files by Connect (`connect.py`, `processes.py`, `filesystem.py`, `watchers.py`), whole files by HTTP
(`files.py`), header `X-Access-Token`. Here it runs outside the sandbox, on top of `outlast_sandbox/interactive.py`.

E2B's terms: *sandbox* is our workspace with its machine, named by the workspace's id without its prefix, which can be
part of a host name; *template* is a snapshot, `base` the bare base; *user* is always `user`, whose home `/home/user` is
the workspace. `middleware.py` finds the requests of this protocol.
"""

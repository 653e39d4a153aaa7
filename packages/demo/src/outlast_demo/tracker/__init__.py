"""The demo's own service: a small issues tracker with an HTTP API, on a loopback address of this machine.

A newcomer has no account anywhere, yet shall see an agent look an API up, call it from its sandbox with a secret that
the sandbox never holds, and build a page from what it answered. So the server brings a real service along: `issues.py`
holds the issues, `issue_lists.py` and `changes.py` list and change them (pure), `access.py` checks credentials and
rates, `request_log.py` keeps the log, `application.py` has the routes, `docs.md` is the documentation. `service.py` is
the sidecar that the server starts: a dependency with name, documents, secret and the one private address.

Everything it keeps lies in the folder `demo` of the data directory: `issues.json`, `secret` (made at the first start),
`requests.log` (each request with the credentials that it really brought), `docs/`.
"""

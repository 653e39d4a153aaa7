"""The demo's service: a small issues tracker with an HTTP API, on a loopback address of this machine.

It lets a new user without any account watch an agent read an API's documentation, call the API from its sandbox with a
secret that the sandbox never holds, and build a page from the answers. `issues.py` holds the issues, `issue_lists.py`
and `changes.py` list and change them (pure), `access.py` checks credentials and the rate limit, `request_log.py` keeps
the log, `application.py` has the routes, and `docs.md` is the documentation. `service.py` is the sidecar that the
server starts: a dependency with a name, documents, a secret and one private address.

It keeps its data in the folder `demo` of the data directory: `issues.json`, `secret` (created at the first start),
`requests.log` (each request with its real credentials), `docs/`.
"""

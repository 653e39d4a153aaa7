"""The demo's own service: a small issues tracker with an HTTP API, on a loopback address of this machine.

A newcomer has no account anywhere, yet shall see an agent look an API up, call it from its sandbox with a secret that
the sandbox never holds, and build a page from what it answered. So the server brings a real service along: `issues.py`
is what it knows, `listing.py` and `changing.py` what may be asked and changed (pure), `access.py` who is let in,
`application.py` its routes, `docs.md` its documentation, which the demo's configuration names like any other's.
`opening.py` puts it all into the settings: a dependency with name, documents, secret and the one private address.

Everything it keeps lies in the folder `demo` of the data directory: `issues.json`, `secret` (made at the first start),
`requests.log` (each request with the credentials that it really brought), `docs/`.
"""

"""The only way out of a sandbox: a proxy of its own on the server's side, which knows what this sandbox may reach.

Words: a *policy* says which hosts may be reached and which secrets belong to which of them; a *placeholder* is what
code inside sees in the place of a secret; a *tunnel* carries TLS through unread, to a host without secrets; an
*inspected* connection ends here, at a certificate of the sandbox's own *authority*, so that placeholders in request
headers can be replaced and secrets in answers hidden; a *refusal* is an answer of the proxy's own, which says what
was refused, why, and which setting would allow it; a *use* is one request that carried a secret.

`rules.py` decides; `redaction.py` hides secrets in answers; `transport.py` (sockets, TLS), `http1.py` and `http2.py`
are the shells; `http_exchange.py` passes one request on; `proxy.py` puts them together for one sandbox, and
`way_out.py` is all that a program needs of them. Nothing of it runs inside a sandbox.
"""

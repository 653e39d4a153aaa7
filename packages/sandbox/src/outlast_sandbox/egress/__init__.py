"""The only network access of a sandbox: a proxy on the server's side, which enforces the sandbox's policy.

Terms: a *policy* lists the allowed hosts and the secrets of each; a *placeholder* is what code inside sees instead of a
secret; a *tunnel* passes TLS through unread, to a host without secrets; an *inspected* connection ends here, at a
certificate of the sandbox's own *authority*, so that placeholders in request headers can be replaced and secrets in
responses hidden; a *refusal* is the proxy's own response, which names the refused host, the reason, and the setting
that would allow it; a *use* is one request that carried a secret.

`rules.py` decides; `redaction.py` hides secrets in responses; `transport.py` (sockets, TLS), `http1.py` and `http2.py`
do the I/O; `http_exchange.py` passes one request on; `proxy.py` combines them for one sandbox, and `way_out.py` is the
interface for programs. None of it runs inside a sandbox.
"""

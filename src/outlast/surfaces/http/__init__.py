"""The HTTP door: typed routes, live streams, and the web app's files.

A request passes `doors` (known host, own origin, JSON only, size), then `sign_in` makes an *actor* of it, then a
*route* reads its input, calls one action and shapes the answer. Errors become *problems* (RFC 9457) in one table.
Streams go through `stream`, which adds nothing to what `kernel/streams` gives but a heartbeat and an end. `server` runs
it all.
"""

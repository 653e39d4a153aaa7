"""The HTTP door: typed routes, live streams, and the web app's files.

A request passes `doors` (known host, own origin, JSON only, size), then `kernel/http/auth.py` makes an *actor* of it,
then a *route* reads its input, calls one action and shapes the answer. Errors become *problems* (RFC 9457) in one
table. Streams go through `kernel/http/event_stream.py`, which adds nothing to what `kernel/streams` gives but a
heartbeat and an end. `server` runs it all.
"""

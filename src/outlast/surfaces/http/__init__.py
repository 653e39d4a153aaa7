"""The HTTP server: typed routes, live streams, and the web app's files.

A request passes `middleware` (known host, own origin, JSON only, size). `kernel/http/auth.py` turns it into an *actor*.
A *route* reads its input, calls one action and shapes the answer. Errors become *problems* (RFC 9457) in one table.
Streams go through `kernel/http/event_stream.py`, which adds only a heartbeat and an end to what `kernel/streams` gives.
`server` runs it all.
"""

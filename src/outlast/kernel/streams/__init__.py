"""Logs and their followers.

A *log* (a run's, thread's or project's) is append-only and numbered upwards. `log` writes and reads it in *blocks*
(rows of encoded events). `writer` is the only writer of a running run's log: facts are saved before they are
sent, deltas are sent at once and saved within two seconds, and no number is sent before its reservation is saved. `hub`
holds the live tail in memory (a cache: losing it loses nothing) and wakes followers. `follow` turns a cursor into
everything after it, then live: replay and live are one code path. `fold` is what clients do with events, and how
long logs are shortened with an equal result.
"""

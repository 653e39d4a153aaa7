"""The foundation of all packages: ids, time, errors, events, settings, logs.

Nothing here knows of a database, a model or a sandbox. Terms: an *id* carries its kind as a prefix; an *event* is one
entry of an append-only log; an *error* says what was refused and what to do next.
"""

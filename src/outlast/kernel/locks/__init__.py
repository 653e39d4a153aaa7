"""Locks: a person's right to drive a thread. (A worker's right to execute a run is a *lease*; the two never mix.)

           acquire                    expiry, no live run of the holder
    free ───────────▶ held ──────────────────────────▶ expired
     ▲                │ ▲ acquire again: refreshed         │ acquire or take over: held by the other
     └──── release ───┘ └─ hand over: held by another ◀────┘

The first user to start a run drives. Each run refreshes the lock. It ends by release, by hand-over (which any editor
may *request*), or by expiry, after which any editor may *take over*. A queued or running run keeps its driver's lock
beyond the expiry; a run parked at an approval does not. `rules.py` holds the transitions.
"""

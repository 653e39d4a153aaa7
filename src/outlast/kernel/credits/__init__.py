"""Credits: the budget of a user for runs. The ledger is the only source of truth; the balance is the sum of its rows.
A plan grants an *allowance* on the 1st of each month (UTC), when the rest of the month before expires: two rows. An
unlimited plan has no allowance and no balance. The user who starts a run pays:

                reserve                settle: the price is paid
    (nothing) ───────────▶ reserved ──────────────────────────────▶ settled
                               │       release: cancelled, failed, abandoned
                               └──────────────────────────────────▶ released

Each happens at most once per run, however often it is repeated. A credit released after its month has ended has expired
with it.
"""

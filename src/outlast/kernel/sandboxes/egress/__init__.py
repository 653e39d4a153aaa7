"""Each living sandbox's proxy (`outlast_sandbox.egress`): what the settings allow it, and a log of the secrets it used.

`keeper.py` gives each sandbox its proxy, `policy.py` reads the settings, `lookups.py` finds the values of secrets,
`uses.py` and `store.py` keep the log. `delegated.py` is for providers that watch over the way out themselves.
"""

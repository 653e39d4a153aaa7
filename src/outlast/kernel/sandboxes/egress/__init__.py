"""Each living sandbox's proxy (`outlast_sandbox.egress`): the hosts that the settings allow, and a log of used secrets.

`keeper.py` gives each sandbox its proxy, `policy.py` reads the settings, `secret_lookup.py` finds the values of
secrets, `uses.py` and `store.py` keep the log. `delegated.py` is for providers that control outgoing
traffic themselves.
"""

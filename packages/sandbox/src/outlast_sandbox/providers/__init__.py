"""The sandbox providers: those that ship with Outlast, and those that other packages add.

`registry.py` finds one by its name in `[sandbox] provider`; `setup.py` holds the arguments of a provider. A package
adds its own through the entry point group `outlast.sandbox_providers`: a name, and a function from `ProviderSetup` to
`SandboxProvider`. Each one that ships here passes the behaviour suite in `tests/sandbox/test_behaviour.py`, or declares
a missing capability; `docs/concepts/sandboxes.md` has the table.
"""

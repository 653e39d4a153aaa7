"""The `local` provider: bubblewrap on this machine, without cloud, daemon or network.

From the outside in: `provider.py` makes and finds sandboxes; `launch.py` writes the plan; `shim.py`, one process
per sandbox that outlives the server, carries it out and passes connections through; bubblewrap builds the
namespaces over the `base_layer.py`; `seccomp.py` filters system calls; `cgroups.py` bounds, freezes and kills;
`inside/` is the agent in there. `sandbox.py` is the server's handle, `connection.py` its wire, `probe.py` says what
this machine can do.

It shares the host's kernel: strong against code that misbehaves, weaker than a virtual machine against a kernel
exploit.
"""

"""The `local` provider: bubblewrap on this machine, without cloud, daemon or network.

From the outside in: `provider.py` creates and finds sandboxes; `launch.py` writes the plan; `shim.py`, one process per
sandbox that outlives the server, executes it and passes connections through; bubblewrap builds the namespaces over the
`base_layer.py`; `seccomp.py` filters system calls; `cgroups.py` limits, freezes and kills; `inside/` is the agent
inside. `sandbox.py` is the server's handle, `connection.py` its connection, `probe.py` reports what this machine
supports.

It shares the host's kernel: strong against code that misbehaves, weaker than a virtual machine against a kernel
exploit.
"""

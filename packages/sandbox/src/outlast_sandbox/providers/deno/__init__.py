"""The `deno` provider: Deno's hosted sandboxes, through the official SDK.

`service.py` holds what is asked of the SDK, and what it leaves open; `sandbox.py` is the server's handle, `provider.py`
makes and finds sandboxes. How the agent gets in and is reached is in `providers/hosted`.

Tested against a server of our own that speaks the wire protocol as the SDK does, never against Deno's.
"""

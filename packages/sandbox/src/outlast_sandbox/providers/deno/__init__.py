"""The `deno` provider: Deno's hosted sandboxes, through the official SDK.

`service.py` wraps the SDK and fills its gaps; `sandbox.py` is the server's handle, `provider.py` creates and finds
sandboxes. `providers/hosted` starts the agent inside and connects to it.

Tested against our own server, which implements the SDK's wire protocol, never against Deno's.
"""

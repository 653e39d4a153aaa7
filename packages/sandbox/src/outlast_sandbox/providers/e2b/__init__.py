"""The `e2b` provider: sandboxes of E2B or a compatible service, through the official SDK.

`service.py` wraps the SDK and converts its errors; `sandbox.py` is the server's handle, `provider.py` creates and finds
sandboxes. `providers/hosted` starts the agent inside and connects to it.
"""

"""The `e2b` provider: sandboxes of E2B, or of a service that speaks its protocol, through the official SDK.

`service.py` holds what is asked of the SDK and turns its errors into ours; `sandbox.py` is the server's handle,
`provider.py` makes and finds sandboxes. How the agent gets in and is reached is in `providers/hosted`.
"""

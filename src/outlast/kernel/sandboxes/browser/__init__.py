"""Pictures of what a sandbox serves, and what goes wrong in the page.

A *photographer* looks at a port of a sandbox as a person's browser would (`outlast_sandbox.browser`). `browsers.py`
keeps browsers warm, `studio.py` takes pictures with them; where there is no Chromium, it looks with plain requests and
says that there is no picture and why.
"""

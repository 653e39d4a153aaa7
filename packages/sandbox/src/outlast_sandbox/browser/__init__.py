"""A browser that looks at what a sandbox serves.

The page was written by an agent and is not trusted, so the browser runs without privileges in a sandbox of its own
whose only way out leads to that one port (`single_target_proxy.py`). `program.py` finds Chromium, `protocol.py` talks
to it, `page.py` opens a page and takes its picture; `requests.py` looks with plain requests where there is no
browser. `browsers.py` keeps browsers warm, and `studio.py`, the photographer, takes pictures with them; where there is
no Chromium it says that there is no picture and why.
"""

"""A browser that renders pages served by a sandbox.

An agent wrote the page, so it is not trusted: the browser runs without privileges in a sandbox of its own, whose only
network access is that one port (`single_target_proxy.py`). `chromium.py` finds Chromium, `devtools.py` talks to it,
`page.py` opens a page and takes a screenshot; `plain_requests.py` checks a page if there is no browser. `browsers.py`
keeps browsers warm. `studio.py`, the photographer, takes screenshots with them; without Chromium it reports why there
is no picture.
"""

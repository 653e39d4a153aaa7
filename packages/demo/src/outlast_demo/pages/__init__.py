"""The demo model as a page's agent: recorded words and layouts around real tool results.

`scene.py` parses the agent's prompt; `wishes.py` recognises the request; `code.py` writes the TypeScript to run, from
the documentation or with a saved module; `html.py` and `charts.py` turn the results into HTML and patches; `tracker.py`
and `plain.py` play the next turn. The model has no state between two requests: it derives its progress from the
transcript and the page.
"""

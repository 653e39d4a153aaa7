"""Pages that the demo model builds: recorded words and layouts around what tools really gave.

`scene.py` reads what the page's agent is told; `wishes.py` finds out what is asked for; `code.py` writes the TypeScript
that is run, from what the documentation said or with a module that was saved; `html.py` and `charts.py` make HTML and
patches of the results; `tracker.py` and `plain.py` say what comes next. Nothing is remembered between two requests: the
transcript and the page say how far the work has come.
"""

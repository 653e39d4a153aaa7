"""Documents that the demo model edits: recorded rules for prose, applied to the real text of the blocks it is told.

`scene.py` reads what the document's agent is told; `wishes.py` finds out what is asked for and where; `prose.py` has
the rules; `edits.py` makes edits with them, `scripts.py` says what comes next. `summaries.py` sums up a conversation
for a fork. Nothing is remembered between two requests: the transcript says how far the work has come.
"""

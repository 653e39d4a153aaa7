"""The demo model as a document's agent: recorded rules for prose, applied to the real text of the blocks.

`scene.py` parses the agent's prompt, `wishes.py` recognises the request and its blocks, `prose.py` has the rules,
`edits.py` makes edits with them, and `scripts.py` plays the next turn. `summaries.py` sums up a conversation for a
fork. The model has no state between two requests: it derives its progress from the transcript.
"""

"""The document agent: its view of a document, its lookups, and how it proposes edits.

`context.py` reads the subject of a thread (a document, a section, a comment, selected text) and its content at the
moment when the run began; `document_text.py` renders that for a model, within a budget, fenced as data;
`prompt.py` has the rules. `propose_edits.py` is the tool that proposes edits: nothing in a document changes before a
person decides. `read_document.py` reads more. `agent.py` assembles it.
"""

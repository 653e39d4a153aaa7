"""The document agent: what it sees of a document, what it can look up, and how it proposes edits.

`context.py` reads what a thread hangs on (a document, a section, a comment, selected text) and what stands there at the
moment when the run began; `document_text.py` writes that as text for a model, within a budget, fenced as data;
`prompt.py` has the rules. `propose_edits.py` is the tool that proposes edits: nothing in a document changes before a
person decides. `read_document.py` and `file_tools.py` look further. `agent.py` puts it together.
"""

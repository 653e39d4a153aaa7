"""Documents: text that people and agents write together.

Words: a *document* is a row with its own thread, and ordered *sections* (a heading and the text below it) of ordered
*blocks* (one piece of Markdown each: a paragraph, a list, a code fence …). Both keep their ids when their text or place
changes. A *change* is one requested modification (`shapes.py`); changes committed together make one *version*
(`edits/write.py`), which records each section and block before and after, so that any earlier state can be read and
restored (`history/`). A *proposal* is a set of *edits* that an agent would like to make and a person decides about. A
*comment* is about the document, a section, a block or a quote.

`content/` has sections and blocks, `edits/` changes them, `history/` reads earlier versions, `proposals/` has proposed
edits, `comments/` the comments. `store.py` has the rows and their events. A section's lock works like a thread's
(`section_locks.py`, docs/states.md). `agent/` is the document's agent.
"""

from outlast.apps.documents.settings import DocumentSettings
from outlast.kernel.cli.command_group import WORK, CommandGroup

SETTINGS = {"documents": DocumentSettings}
COMMANDS = (
    CommandGroup("documents", f"{__name__}.commands", "Documents, their versions and comments", WORK),
    CommandGroup("proposals", f"{__name__}.proposals.commands", "Changes that agents propose", WORK),
)

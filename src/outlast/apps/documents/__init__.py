"""Documents: text that people and agents write together.

Words: a *document* is a row with a thread of its own, and ordered *sections* (a heading and what stands below it) of
ordered *blocks* (one piece of Markdown each: a paragraph, a list, a code fence …). Both keep their ids when their
text or their place changes. A *change* is one thing that somebody wants to be different (`shapes.py`); changes
committed together make one *version* (`edits/write.py`), which says what each section and block was before and after,
so that any earlier state can be read and restored (`history/`). A *proposal* is a set of *edits* that an agent would
like to make and a person decides about. A *comment* is a remark on the document, a section, a block or a quote.

`content/` has sections and blocks, `edits/` changes them, `history/` keeps what was, `proposals/` what agents would
change, `comments/` the remarks. `store.py` has the rows and the news. A section's lock is kept like a thread's
(`section_locks.py`, docs/states.md). `agent/` is the document's agent.
"""

from outlast.apps.documents.settings import DocumentSettings
from outlast.kernel.cli.command_group import WORK, CommandGroup

SETTINGS = {"documents": DocumentSettings}
COMMANDS = (
    CommandGroup("documents", f"{__name__}.commands", "Documents, their versions and comments", WORK),
    CommandGroup("proposals", f"{__name__}.proposals.commands", "Changes that agents propose", WORK),
)

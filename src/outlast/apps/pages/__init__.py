"""Pages: live HTML documents, kept on the server and changed by an agent's patches.

Words: a *page* is a row with its HTML, a thread for its conversation, and a workspace in which its code runs; the three
live and die together. A *patch* is one change to it (`shapes.py` has the grammar); each accepted change makes a
*version*. Its *state* is never stored: it is derived from the thread's runs and the known problems
(`kernel/subjects/rules.py`). An *action* is something a person did on the page: it waits for the next run, which takes
all waiting actions (`user_actions.py`). A *link* shows a page, read only, to anyone who has its secret
(`link_store.py`). A *module* is code that an agent saved for later (`apps/knowledge`).

`store.py` has the rows and their events. Code that changes a page, its thread's runs or its sandbox announces the page
in the same transaction, so that lists, answers and events never disagree. `agent/` is the page's agent; `embeds/`
serves pages under their own host names.
"""

from outlast.apps.pages.settings import PageSettings
from outlast.kernel.cli.command_group import WORK, CommandGroup

SETTINGS = {"pages": PageSettings}
COMMANDS = (CommandGroup("pages", f"{__name__}.commands", "Live pages, their actions and links", WORK),)

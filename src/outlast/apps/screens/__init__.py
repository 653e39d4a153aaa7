"""Screens: apps on a project's canvas, with their themes and manual edits.

Words: a *screen* is a row with a place on the *canvas* (the plane with a project's screens), a thread for its
conversation, and a workspace with its files; the three live and die together. Its *state* is never stored: it
is derived from the thread's runs and the known problems (`kernel/subjects/rules.py`, drawn in docs/states.md).
A *theme* is the look of its app: *tokens* by name, light and dark (`theme_tokens.py`, `themes.toml`), written into
one marked block of the app's style sheet (`themes.py`). An *edit* is a change of the source made by hand (`edits`).

`store.py` has the rows and their events. Code that changes a screen, its thread's runs or its sandbox announces the
screen in the same transaction, so that lists, answers and events never disagree. `zip_archive.py` decides which of its
files people see and download, `file_search.py` searches them. `agent/` is the screen's agent.
"""

from outlast.kernel.cli.command_group import WORK, CommandGroup

COMMANDS = (CommandGroup("screens", f"{__name__}.commands", "Build and open apps on a project's canvas", WORK),)

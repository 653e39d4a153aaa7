"""Screens: apps on a project's canvas, with their themes and the edits that people make by hand.

Words: a *screen* is a row with a place on the *canvas* (the plane that a project's screens lie on), a thread in which
it is talked about, and a workspace with its files; the three live and die together. Its *state* is never stored: it
follows from the thread's runs and from what is known to be wrong (`kernel/subjects/rules.py`, drawn in docs/states.md).
A *theme* is what its app looks like: *tokens* by name, light and dark (`theme_tokens.py`, `themes.toml`), written into
one marked block of the app's style sheet (`themes.py`). An *edit* is a change of the source made by hand (`edits`).

`store.py` has the rows and the news. Code that changes a screen, its thread's runs or its sandbox announces the screen
in the same transaction, so that lists, answers and events never disagree. `zip_archive.py` says which of its files
people see and take away, `file_search.py` what is found in them. `agent/` is the screen's agent.
"""

from outlast.kernel.cli.command_group import WORK, CommandGroup

COMMANDS = (CommandGroup("screens", f"{__name__}.commands", "Build and open apps on a project's canvas", WORK),)

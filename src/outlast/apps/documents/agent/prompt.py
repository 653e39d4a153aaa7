"""The `document` agent's system text: the same for every document of a server, so that it stays in the models' caches.
Pure."""

from typing import Final

from outlast.base.data_files import read_text

SYSTEM: Final = read_text(__file__, "system.md")

READ: Final = """\
- `read_document` shows sections that you were not shown, or finds blocks by words, as the document is now.
"""
FILES: Final = """\
- `search_files` finds passages in the project's files, `read_file` reads on. Say which file a fact is from.
"""
DOCS: Final = """\
- `search_docs` searches documentation that is indexed here.
"""
ASK: Final = """\
- `ask_user` asks the person, where only they can decide. Ask before a large change that could go several ways.
"""
REQUEST: Final = "[REQUEST]"
ABOUT: Final = "[ABOUT]"
FILES_HEADING: Final = "[FILES OF THE PROJECT]"
PROPOSED: Final = "[YOUR PROPOSALS SO FAR]"
GONE: Final = "The document that this conversation was about was deleted. There is nothing to propose edits to: say so."


def system_prompt(*, files: bool, docs: bool) -> str:
    """The system text. `files`, `docs`: whether project files and documentation can be searched."""
    tools = READ + (FILES if files else "") + (DOCS if docs else "") + ASK
    return SYSTEM.format(tools=tools)

"""The prompt of the `document` agent. Pure.

The system text is the same for every document of a server, so that it stays in the models' caches. Earlier messages
come next: they only grow, so a model's cache stays valid from run to run. The document comes next to the request
that is about it.
"""

from collections.abc import Sequence
from typing import Final

from outlast.apps.documents.agent.context import DocumentContext
from outlast.apps.documents.agent.document_text import anchor_text, document_text
from outlast.base.data_files import read_text
from outlast.kernel.agents.context_window import CHARS_PER_TOKEN, LoadImage, messages_from
from outlast.kernel.agents.prompt_tags import PromptTags
from outlast.kernel.models.protocol import ModelMessage, TextPiece
from outlast.kernel.runs.history import Exchange

SYSTEM: Final = read_text(__file__, "system.md")

READ: Final = """\
- `read_document` shows sections that you were not shown, or finds blocks by words, as the document is now.
- `search_files` finds passages in the project's files, `read_file` reads on. Say which file a fact is from.
"""
DOCS: Final = "- `search_docs` searches documentation that is indexed here.\n"
ASK: Final = """\
- `ask_user` asks the person, where only they can decide. Ask before a large change that could go several ways.
"""
REQUEST: Final = "[REQUEST]"
ABOUT: Final = "[ABOUT]"
FILES_HEADING: Final = "[FILES OF THE PROJECT]"
PROPOSED: Final = "[YOUR PROPOSALS SO FAR]"
GONE: Final = "The document that this conversation was about was deleted. There is nothing to propose edits to: say so."
DOCUMENT_SHARE: Final = 0.6  # maximum share of the budget; the rest is for the conversation


def system_prompt(*, docs: bool) -> str:
    """The system text. `docs`: documentation can be searched."""
    return SYSTEM.format(tools=READ + (DOCS if docs else "") + ASK)


def messages_told(
    exchanges: Sequence[Exchange], about: DocumentContext | None, token_budget: int, load_image: LoadImage
) -> list[ModelMessage]:
    """The conversation; in its last message the context of the run precedes the request. The oldest messages are left
    out when the budget is used up; the last one always stays."""
    before = before_request(about, int(token_budget * DOCUMENT_SHARE) * CHARS_PER_TOKEN)
    left = max(token_budget - len(before) // CHARS_PER_TOKEN, 0)
    *earlier, own = messages_from(exchanges, left, load_image) or [ModelMessage("user", ())]
    return [*earlier, ModelMessage("user", (TextPiece(before), *own.pieces))]


def before_request(about: DocumentContext | None, most_chars: int) -> str:
    """The text before a person's request: the document, the subject, files, earlier proposals."""
    if about is None:
        return f"{GONE}\n\n{REQUEST}"
    document, anchor = about.document, about.anchor
    tags = PromptTags.around([*document.texts(), *anchor.texts(), *about.files, *about.proposed])
    sections = [f"{ABOUT}\n{anchor_text(anchor, tags)}"]
    for heading, tag, lines in ((FILES_HEADING, "files", about.files), (PROPOSED, "proposals", about.proposed)):
        if lines:
            sections.append("\n".join([heading, tags.put(tag, "\n".join(lines))]))
    sections.append(REQUEST)
    room = most_chars - sum(len(section) + 2 for section in sections)
    told = document_text(document, tags, anchor.focus, max(room, most_chars // 4))
    return "\n\n".join([told, *sections])

"""The `document` agent: it answers in a thread next to a document, and proposes edits that people decide about."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from outlast.apps.documents.agent.context import DocumentContext, read_context
from outlast.apps.documents.agent.prompt import messages_told, system_prompt
from outlast.apps.documents.agent.propose_edits import propose_edits_tool
from outlast.apps.documents.agent.read_document import read_document_tool
from outlast.apps.documents.settings import DocumentSettings
from outlast.kernel.agents.agent import Agent
from outlast.kernel.agents.prompt import Conversation, PromptContext
from outlast.kernel.agents.tools.ask_user import ask_user
from outlast.kernel.agents.tools.project_files import file_tools
from outlast.kernel.apps.opened import Opened, Opening
from outlast.kernel.library.search import SEARCH_DOCS
from outlast.kernel.models.protocol import ModelMessage
from outlast.kernel.runs.history import Exchange

GONE: Final = {
    "section": "The section that this conversation is about was deleted. The answer is based on the whole document.",
    "comment": "The comment that this conversation is about was deleted. The answer is based on the whole document.",
    "selection": "The text that this conversation is about was deleted. The answer is based on the whole document.",
    "document": "The document that this conversation is about was deleted.",
}


def open_app(opening: Opening) -> Opened:
    """The agent `document`."""
    return Opened(agents=[document_agent(opening)])


def document_agent(opening: Opening) -> Agent:
    """The agent `document`."""
    db, docs = opening.database, opening.implementation(SEARCH_DOCS)
    tools = [
        propose_edits_tool(db, opening.settings.of(DocumentSettings)),
        read_document_tool(db),
        *file_tools(opening),
        *([docs] if docs is not None else []),
        ask_user,
    ]
    return Agent("document", instructions=system_prompt(docs=docs is not None), tools=tools, context=_conversation)


def _conversation(context: PromptContext) -> Conversation:
    """The conversation, and the document as it was when the run began: the same for all turns of the run."""
    about = read_context(context.tx, context.run)

    def render(exchanges: Sequence[Exchange]) -> list[ModelMessage]:
        return messages_told(exchanges, about, context.token_budget, context.load_image)

    conversation = context.with_history(render)
    return replace(conversation, notices=(*conversation.notices, *_gone(about)))


def _gone(about: DocumentContext | None) -> list[tuple[str, str]]:
    """The notice for people if the subject of the thread was deleted."""
    if about is None:
        return [("document_gone", GONE["document"])]
    if about.anchor.gone:
        return [("anchor_gone", GONE[about.anchor.kind])]
    return []

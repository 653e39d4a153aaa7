"""The `document` agent: it answers in a thread next to a document, and proposes edits that people decide about."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from outlast.apps.documents.agent.context import DocumentContext, read_context
from outlast.apps.documents.agent.file_tools import Files, read_file_tool, search_files_tool
from outlast.apps.documents.agent.prompt import messages_told, system_prompt
from outlast.apps.documents.agent.propose_edits import propose_edits_tool
from outlast.apps.documents.agent.read_document import read_document_tool
from outlast.apps.documents.settings import DocumentSettings
from outlast.db.database import Database
from outlast.kernel.agents.agent import Agent
from outlast.kernel.agents.ports import SEARCH_DOCS
from outlast.kernel.agents.prompt import Conversation, PromptContext
from outlast.kernel.agents.tool import Tool
from outlast.kernel.agents.tools.ask_user import ask_user
from outlast.kernel.apps.opening import Opened, Opening
from outlast.kernel.files.search import ProjectFiles
from outlast.kernel.library.search import SEARCH
from outlast.kernel.models.protocol import ModelMessage
from outlast.kernel.runs.history import Exchange
from outlast.kernel.settings import Settings

GONE: Final = {
    "section": "The section that this conversation is about was deleted. The answer is based on the whole document.",
    "comment": "The comment that this conversation is about was deleted. The answer is based on the whole document.",
    "selection": "The text that this conversation is about was deleted. The answer is based on the whole document.",
    "document": "The document that this conversation is about was deleted.",
}


def open_app(opening: Opening) -> Opened:
    """The agent `document`."""
    database = opening.database
    files = ProjectFiles(database, opening.blobs, opening.implementation(SEARCH))
    docs = opening.implementation(SEARCH_DOCS)
    return Opened(agents=[document_agent(opening.settings, database, files=files, docs=docs)])


def document_agent(settings: Settings, db: Database, *, files: Files | None = None, docs: Tool | None = None) -> Agent:
    """The agent `document`. `files` searches the project's files, `docs` is the tool that searches documentation
    (None if nothing is indexed)."""
    tools = [propose_edits_tool(db, settings.of(DocumentSettings)), read_document_tool(db)]
    if files is not None:
        tools += [search_files_tool(files), read_file_tool(files)]
    tools += [ask_user] if docs is None else [docs, ask_user]
    instructions = system_prompt(files=files is not None, docs=docs is not None)
    return Agent("document", instructions=instructions, tools=tools, context=_conversation)


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

"""The `document` profile: it answers in a thread beside a document, and proposes edits that people decide about."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from outlast.apps.documents.agent.about import About, about_run
from outlast.apps.documents.agent.context import messages_told
from outlast.apps.documents.agent.file_tools import Files, ReadFile, SearchFiles
from outlast.apps.documents.agent.prompt import system_prompt
from outlast.apps.documents.agent.propose_edits import ProposeEdits
from outlast.apps.documents.agent.read_document import ReadDocument
from outlast.base.settings import Settings
from outlast.db.blobs import FolderBlobs
from outlast.db.database import Database, Tx
from outlast.kernel.agents.history import image_loader, token_budget, with_history
from outlast.kernel.agents.history import messages_told as how_many
from outlast.kernel.agents.tools.ask_user import AskUser
from outlast.kernel.models.protocol import ModelMessage, ModelSpec
from outlast.kernel.runs.history import Exchange
from outlast.kernel.runs.model import Run
from outlast.kernel.runs.profile import Prompt, Tool

GONE: Final = {
    "section": "The section that this conversation is about was deleted. The answer goes by the whole document.",
    "comment": "The comment that this conversation is about was deleted. The answer goes by the whole document.",
    "selection": "The text that this conversation is about was deleted. The answer goes by the whole document.",
    "document": "The document that this conversation is about was deleted.",
}


class DocumentProfile:
    """See the module. `model_of` finds a model's description by id; `files` knows the project's files, `docs` is the
    tool that searches documentation (None: there is nothing to search)."""

    name: Final = "document"

    def __init__(
        self,
        settings: Settings,
        db: Database,
        blobs: FolderBlobs,
        model_of: Callable[[str], ModelSpec],
        *,
        files: Files | None = None,
        docs: Tool | None = None,
    ) -> None:
        self._settings, self._blobs, self._model_of = settings, blobs, model_of
        self._system = system_prompt(files=files is not None, docs=docs is not None)
        tools: list[Tool] = [
            ProposeEdits(db, settings.documents),
            ReadDocument(db),
        ]
        if files is not None:
            tools += [SearchFiles(files), ReadFile(files)]
        tools += [*([docs] if docs is not None else []), AskUser()]
        self._tools = {tool.name: tool for tool in tools}

    @property
    def tools(self) -> Mapping[str, Tool]:
        return self._tools

    def prompt(self, tx: Tx, run: Run) -> Prompt:
        """The rules, the conversation, and the document as it was when the run began: the same for all of its turns."""
        model = self._model_of(run.model)
        budget = token_budget(self._settings, model)
        load_image = image_loader(tx, self._blobs, sees=model.vision)
        about = about_run(tx, run)

        def render(exchanges: Sequence[Exchange]) -> list[ModelMessage]:
            return messages_told(exchanges, about, budget, load_image)

        messages, notices = with_history(tx, run, how_many(self._settings, self.name), render)
        return Prompt(self._system, messages, (*notices, *_gone(about)))

    def finish(
        self, tx: Tx, run: Run, parts: Sequence[Mapping[str, Any]], facts: Mapping[str, Any]
    ) -> list[str]:
        return []


def _gone(about: About) -> list[tuple[str, str]]:
    """What people are told where the thread hangs on something that was deleted."""
    if about.document is None or about.anchor is None:
        return [("document_gone", GONE["document"])]
    if about.anchor.gone:
        return [("anchor_gone", GONE[about.anchor.kind])]
    return []

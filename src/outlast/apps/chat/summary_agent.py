"""The `summary` profile: the first run of a fork that begins with a summary of its parent. It has no tools, and no
thread is made with it: threads keep the profile of what they go on with."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from outlast.apps.chat.summary_context import SYSTEM, conversation_before, told
from outlast.base.settings import Settings
from outlast.db.database import Tx
from outlast.kernel.agents.history import token_budget
from outlast.kernel.models.protocol import ModelMessage, ModelSpec, TextPiece
from outlast.kernel.runs.model import Run
from outlast.kernel.runs.profile import Prompt, Tool
from outlast.kernel.threads.tables import messages

NOTHING: Final = "The thread that this one was forked from was deleted: there is nothing to sum up. Say so."
GONE: Final = ("parent_gone", "The thread to sum up was deleted meanwhile.")


class SummaryProfile:
    """See the module. `model_of` finds a model's description by id."""

    name: Final = "summary"

    def __init__(self, settings: Settings, model_of: Callable[[str], ModelSpec]) -> None:
        self._settings, self._model_of = settings, model_of
        self._tools: dict[str, Tool] = {}

    @property
    def tools(self) -> Mapping[str, Tool]:
        return self._tools

    def prompt(self, tx: Tx, run: Run) -> Prompt:
        conversation = conversation_before(tx, run)
        if conversation is None:
            return Prompt(SYSTEM, [ModelMessage("user", (TextPiece(NOTHING),))], (GONE,))
        own = tx.find(messages, {"id": run.message_id}, "parts")
        asked = "\n".join(part["text"] for part in (own["parts"] if own else ()) if part["type"] == "text")
        budget = token_budget(self._settings, self._model_of(run.model))
        return Prompt(SYSTEM, [ModelMessage("user", (TextPiece(told(conversation, asked, budget)),))])

    def finish(
        self, tx: Tx, run: Run, parts: Sequence[Mapping[str, Any]], facts: Mapping[str, Any]
    ) -> list[str]:
        return []

"""Prompts: the hooks that make one, their context, and the default conversation of most agents."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from outlast.base.records import dataclass

if TYPE_CHECKING:  # `from outlast import Agent` loads next to nothing; what a prompt needs is loaded when a run works
    from outlast.db.blobs.at_hand import Readable
    from outlast.db.database import Tx
    from outlast.kernel.models.protocol import ModelMessage, ModelSpec, ToolSpec
    from outlast.kernel.runs.history import Exchange, History
    from outlast.kernel.runs.transcript import Run
    from outlast.kernel.settings import Settings

UNREADABLE: Final = (
    ("history_unavailable", "Earlier messages could not be read, so the answer was written without them."),
)
OF_PROJECT: Final = (
    "The owners of this project wrote these instructions for all its agents. Follow them, but the rules above win."
)
NOT_READABLE: Final = (KeyError, TypeError, ValueError, AttributeError)


@dataclass(frozen=True, slots=True)
class Conversation:
    """The messages for a model before the run's own turns. `notices` are shown to the user: a code and a text each,
    shown once a run. `summarized`: the oldest messages are replaced by a summary; `crowded`: they are to be."""

    messages: "Sequence[ModelMessage]"
    notices: Sequence[tuple[str, str]] = ()
    summarized: bool = False
    crowded: bool = False


@dataclass(frozen=True, slots=True)
class Prompt:
    """A conversation with the system text before it, and the tools that the model may call."""

    system: str
    conversation: Conversation
    tools: "tuple[ToolSpec, ...]" = ()


@dataclass(frozen=True, slots=True)
class PromptContext:
    """The context of `instructions` and `context`, before each turn of a run: one read transaction, the run, and its
    model. Return the same for every turn of a run, so that providers' caches apply."""

    tx: "Tx"
    run: "Run"
    model: "ModelSpec"
    settings: "Settings"
    blobs: "Readable"

    @property
    def token_budget(self) -> int:
        """The number of tokens of history that the model reads."""
        return token_budget(self.settings, self.model)

    def own_parts(self) -> Sequence[Mapping[str, Any]]:
        """The parts of the message that the run answers; empty if it was deleted."""
        from outlast.kernel.threads.tables import messages

        parts: Sequence[Mapping[str, Any]] | None = self.tx.value(messages.c.parts, {"id": self.run.message_id})
        return parts or ()

    def load_image(self, attachment_id: str) -> tuple[str, bytes] | None:
        """An image's type and bytes by its attachment's id, or None if it is gone or the model does not see images."""
        from outlast.base.errors import NotFound
        from outlast.kernel.attachments.rows import AttachmentRow
        from outlast.kernel.attachments.tables import attachments

        if not self.model.vision:
            return None
        row = self.tx.find(AttachmentRow, attachments, {"id": attachment_id})
        try:
            return None if row is None else (row.media_type, self.blobs.get(row.blob))
        except NotFound:  # the answer is written without it, and notes that it was not shown
            return None

    def with_history(self, render: "Callable[[Sequence[Exchange]], Sequence[ModelMessage]]") -> Conversation:
        """The result of `render` for the last exchanges, oldest first, after the summary of those before. If a stored
        message is not readable: for the run's own message only, with a warning in the log and a notice."""
        import logging

        from outlast.kernel.compactions.prompt import summary_message
        from outlast.kernel.runs.history import Exchange, history_before

        limit = context_messages(self.settings, self.run.profile)
        try:
            history = history_before(self.tx, self.run, limit)
            rendered = render(history.exchanges)
        except NOT_READABLE as error:
            log = logging.getLogger("outlast.agents")
            log.warning("history not readable", extra={"run_id": self.run.id, "error": error})
            return Conversation(render([Exchange(self.own_parts(), ())]), UNREADABLE)
        before = [] if history.summary is None else [summary_message(history.summary)]
        crowded = self._is_crowded(history, rendered)
        return Conversation([*before, *rendered], summarized=bool(before), crowded=crowded)

    def _is_crowded(self, history: "History", rendered: "Sequence[ModelMessage]") -> bool:
        """True if the earlier exchanges, as rendered, are to be summarized."""
        from outlast.kernel.agents.context_window import CHARS_PER_TOKEN, exchange_size, size_of
        from outlast.kernel.compactions.rules import MANY, is_crowded

        is_alone = not history.exchanges or history.exchanges[0].position == history.exchanges[-1].position
        if is_alone or not self.settings.runs.summarize:
            return False
        used, budget = size_of(rendered[:-1]), self.token_budget * CHARS_PER_TOKEN
        # Each exchange begins with a user message: fewer of these show that some had no room. Only among many, as an
        # agent may also put several exchanges into one message.
        fewer = sum(message.role == "user" for message in rendered) < len(history.exchanges)
        dropped = fewer and sum(map(exchange_size, history.exchanges[:-1])) > MANY * budget
        return is_crowded(used, budget, left_out=history.left_out, dropped=dropped, undone=history.undone)


def conversation_so_far(context: PromptContext) -> Conversation:
    """The thread's last messages and answers, within the budget: the default `context` of an agent."""
    from outlast.kernel.agents.context_window import messages_from

    return context.with_history(lambda exchanges: messages_from(exchanges, context.token_budget, context.load_image))


def with_project(system: str, instructions: str) -> str:
    """The system text with the project's instructions behind it."""
    from outlast.kernel.agents.prompt_tags import PromptTags

    if not instructions:
        return system
    quoted = PromptTags.around([instructions]).put("instructions", instructions)
    return f"{system}\n\n{OF_PROJECT}\n{quoted}".lstrip()


def context_messages(settings: "Settings", agent: str) -> int:
    """The number of last messages that an agent's model reads."""
    own = settings.profiles.get(agent)
    chosen = own.context_messages if own is not None else None
    return int(chosen if chosen is not None else settings.runs.context_messages)


def token_budget(settings: "Settings", model: "ModelSpec") -> int:
    """The number of tokens of history that a model reads: at most half of its context window, as the run itself needs
    room."""
    return min(settings.runs.context_tokens, model.context_tokens // 2)

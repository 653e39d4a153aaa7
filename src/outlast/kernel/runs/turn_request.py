"""The request of a model turn. If it would crowd the model's context, the oldest messages of the thread or the oldest
steps of the run are summarized first (`compaction.py`)."""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Final

import anyio.to_thread
import orjson

from outlast.base.ids import new_id
from outlast.base.records import dataclass
from outlast.db.blobs.at_hand import BlobsAtHand
from outlast.db.database import Tx
from outlast.kernel.agents.context_window import CHARS_PER_TOKEN, size_of, text_size, user_pieces
from outlast.kernel.agents.prompt import NOT_READABLE, Conversation, Prompt, PromptContext
from outlast.kernel.compactions.rules import CROWDED, may_try
from outlast.kernel.models.protocol import ModelMessage, ModelRequest, ToolSpec
from outlast.kernel.models.tool_choice import AUTO
from outlast.kernel.runs import store
from outlast.kernel.runs.call_images import sent_images
from outlast.kernel.runs.compaction import Portion, compact, portion_of_steps, portion_of_thread
from outlast.kernel.runs.context import RunContext
from outlast.kernel.runs.shapes import PartCarrier
from outlast.kernel.runs.steer import pieces_read
from outlast.kernel.runs.transcript import Effect, Transcript
from outlast.kernel.runs.turns import Sent, messages_of
from outlast.kernel.threads.parts import NoticePart

MISSING_TOOLS: Final = "mcp_tools_missing"
COMPACTIONS: Final = 2  # before one turn: of the thread, and of the run's steps


@dataclass(frozen=True, slots=True)
class _Read:
    """What a turn is asked with; `journal` has the run's effects with the results of calls, `sent` the
    messages that were sent to it. `own_size` is the size of
    the run's own messages, `around` that of everything else."""

    prompt: Prompt
    journal: Sequence[Effect] = ()
    sent: Sent = field(default_factory=dict)
    own: Sequence[ModelMessage] = ()
    own_size: int = 0
    around: int = 0


class TurnRequest:
    """The request of one turn, for all its tries. `last_ordinal` is the last one in the run's journal."""

    def __init__(self, context: RunContext, transcript: Transcript, turn: Effect) -> None:
        self.last_ordinal = max(turn.ordinal, transcript.next_ordinal - 1)
        self._context, self._turn, self._is_first = context, turn, not transcript.effects
        mine = [effect for effect in transcript.effects if effect.kind == "compaction" and not effect.inherited]
        # Named by an attempt that is gone: asked again under its id.
        self._cut = [effect for effect in mine if effect.status == "started" and effect.step == turn.step]
        self._failed_at = [effect.step for effect in mine if effect.status == "failed"]
        self._made = 0
        self._missing: Mapping[str, str] = {}
        has_answered = any(effect.kind == "model" and effect.status == "finished" for effect in transcript.effects)
        self._choice = AUTO if has_answered else context.agent.tool_choice

    async def build(self) -> ModelRequest:
        """The request, after a compaction if it is needed."""
        self._missing = await self._context.missing_tools()
        read = await self._read()
        while (portion := await self._due(read)) is not None:
            await self._compact(portion)
            read = await self._read()
        await _show_notices(self._context, read.prompt.conversation, self._turn.step)
        tools = self._tools(read)
        return ModelRequest(
            model=self._context.model,
            system=read.prompt.system,
            messages=(*read.prompt.conversation.messages, *read.own),
            tools=tools,
            tool_choice=self._choice if tools else AUTO,
            metadata={"run_id": self._context.run.id, "step": self._turn.step, "attempt": self._context.run.attempt},
        )

    async def _read(self) -> _Read:
        context = self._context
        engine = context.engine
        blobs = BlobsAtHand(engine.blobs)

        def read(tx: Tx) -> _Read:
            prompt_context = PromptContext(tx, context.run, context.model, engine.settings, blobs)
            prompt = context.agent.prompt(prompt_context)
            prompt = _without(replace(prompt, tools=(*prompt.tools, *context.connect_in(tx))), self._missing)
            if self._is_first:
                return _Read(prompt)
            journal = store.whole_effects(tx, context.run.id)
            sent = pieces_read(tx, journal, lambda parts: user_pieces(parts, prompt_context.load_image))
            shown = sent_images(journal)
            own = messages_of(journal, sent, lambda one: prompt_context.load_image(one) if one in shown else None)
            around = text_size(prompt.system) + size_of(prompt.conversation.messages) + _tools_size(prompt.tools)
            return _Read(prompt, journal, sent, own, size_of(own), around)

        return await blobs.repeated(lambda: engine.db.read(read))

    async def _due(self, read: _Read) -> Portion | None:
        """What has to be summarized before the turn is asked, or None."""
        allowed = self._context.engine.settings.runs.summarize
        if not allowed or self._made == COMPACTIONS or not may_try(self._failed_at, self._turn.step):
            return None
        context = self._context
        if read.prompt.conversation.crowded and self._made == 0:
            try:
                return await context.engine.db.read(
                    portion_of_thread, context.engine.settings, context.run, context.model
                )
            except NOT_READABLE:  # an unreadable message: the oldest ones are left out, as without a summary
                return None
        room = context.model.context_tokens * CHARS_PER_TOKEN
        if len(read.own) < 2 or read.own_size + read.around < CROWDED * room:
            return None
        told = read.prompt.conversation.messages
        return await anyio.to_thread.run_sync(portion_of_steps, read.journal, read.sent, told, read.around, room)

    async def _compact(self, portion: Portion) -> None:
        self._made += 1
        named = self._cut.pop() if self._cut else None
        if named is None:
            self.last_ordinal += 1
        if not await compact(self._context, portion, self._turn.step, self.last_ordinal, named):
            self._failed_at.append(self._turn.step)
        self._is_first = False

    def _tools(self, read: _Read) -> tuple[ToolSpec, ...]:
        """The agent's tools; if the request has a summary, also the one that reads what it replaces."""
        context, specs = self._context, read.prompt.tools
        compacted = read.prompt.conversation.summarized or any(effect.kind == "compaction" for effect in read.journal)
        reader = context.engine.reader
        offered = specs and compacted and context.agent.tool(reader.name) is None
        return (*specs, reader.spec) if offered else specs


def _without(prompt: Prompt, missing: Mapping[str, str]) -> Prompt:
    """The prompt, which tells the model and the user about missing tools. What a server says about itself is not for
    the model."""
    if not missing:
        return prompt
    told = f"Your tools of {', '.join(sorted(missing))} are missing now, because they could not be listed."
    notice = (MISSING_TOOLS, " ".join(missing[server] for server in sorted(missing)))
    conversation = replace(prompt.conversation, notices=(*prompt.conversation.notices, notice))
    return replace(prompt, system="\n\n".join(filter(None, (prompt.system, told))), conversation=conversation)


def _tools_size(specs: Sequence[ToolSpec]) -> int:
    return sum(len(spec.description) + len(orjson.dumps(spec.parameters)) for spec in specs)


async def _show_notices(context: RunContext, conversation: Conversation, step: int) -> None:
    """Show the notices of the prompt to the user, once a run."""
    told = {part["code"] for part in context.shown.parts if part["type"] == "notice"}
    notices = [
        NoticePart(id=new_id("part"), step=step, level="warning", code=code, text=text)
        for code, text in conversation.notices
        if code not in told
    ]
    if notices:
        await context.record_events(*(("part.created", PartCarrier(part=notice)) for notice in notices))

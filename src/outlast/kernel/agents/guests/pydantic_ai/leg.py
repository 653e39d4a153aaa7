"""A run of a guest of pydantic-ai: its agent is called with the thread's messages."""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from typing import Any

import anyio.to_thread
from pydantic_ai.agent import AbstractAgent
from pydantic_ai.capabilities import ReinjectSystemPrompt
from pydantic_ai.capabilities.abstract import leaf_capabilities
from pydantic_ai.exceptions import AgentRunError, UserError
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelResponse
from pydantic_ai.models import infer_model
from pydantic_ai.usage import UsageLimits
from pydantic_core import to_json

from outlast.base.agent_errors import GuestFailed
from outlast.base.errors import OutlastError
from outlast.db.database import Tx
from outlast.kernel.agents.agent import NAME, Agent
from outlast.kernel.agents.context import Context
from outlast.kernel.agents.guests.pydantic_ai.conversions import messages_from, results_in
from outlast.kernel.agents.guests.pydantic_ai.durability import OutlastDurability, current_journal
from outlast.kernel.agents.guests.pydantic_ai.workspace import OutlastWorkspace, workspace_scope
from outlast.kernel.agents.prompt import context_messages
from outlast.kernel.compactions.prompt import summary_message
from outlast.kernel.models.protocol import TextPiece
from outlast.kernel.models.providers.pydantic_ai_clients import build_response_types
from outlast.kernel.runs.function_output import Shown
from outlast.kernel.runs.guest_journal import MAX_UNIT_BYTES, Guest, GuestJournal, place_of
from outlast.kernel.runs.history import History, history_before
from outlast.kernel.runs.journal_store import values_at
from outlast.kernel.runs.outcome import NO_OUTCOME
from outlast.kernel.runs.rows import FunctionStepRow
from outlast.kernel.runs.transcript import Run

MAX_ERROR_CHARS = 1_000
MESSAGES = "messages"
"""The unit that keeps the new messages of a run, for later runs of its thread."""


def adopt_pydantic_ai(value: Any) -> Agent | None:
    """The agent that this value becomes if it is one of pydantic-ai with `OutlastDurability`; else None."""
    durability = OutlastDurability.from_agent(value) if isinstance(value, AbstractAgent) else None
    if durability is None:
        return None
    named = durability.name or value.name or ""
    name = named if NAME.fullmatch(named) else re.sub(r"[^a-z0-9_]+", "-", named.lower()).strip("-")[:40]
    return Agent(
        name,
        title=durability.title,
        description=durability.description or (value.description if isinstance(value.description, str) else ""),
        icon=durability.icon,
        listed=durability.listed,
        sandbox=any(isinstance(one, OutlastWorkspace) for one in leaf_capabilities(value.root_capability)),
        flow=Guest(partial(_play, value, durability)),
    )


async def _play(
    agent: AbstractAgent[Any, Any], durability: OutlastDurability[Any], ctx: Context, journal: GuestJournal
) -> Any:
    """The answer of one run. Its messages are kept for the next ones."""
    run, engine = journal.context.run, journal.context.engine
    await anyio.to_thread.run_sync(_prepare, agent.model)
    history = await engine.db.read(partial(_history, run=run, limit=context_messages(engine.settings, run.profile)))
    token = current_journal.set(journal)
    try:
        with workspace_scope(ctx, journal.context):
            result = await agent.run(
                ctx.message,
                message_history=await _messages(journal, *history),
                deps=None if durability.deps is None else durability.deps(ctx),
                usage_limits=_limits(journal),
                capabilities=[ReinjectSystemPrompt()],
            )
    except (OutlastError, *NO_OUTCOME):
        raise
    except Exception as error:  # the edge of a guest
        raise _failure(error) from error
    finally:
        current_journal.reset(token)
    new = result.new_messages()

    async def kept() -> Any:
        body = ModelMessagesTypeAdapter.dump_json(new)
        return json.loads(body) if len(body) <= MAX_UNIT_BYTES else None

    await journal.unit(MESSAGES, kept, lambda _value, tx, events: journal.close(results_in(new), tx, events))
    return _answer(result.output, new)


def _prepare(model: Any) -> None:
    """Load what the agent's model needs. Otherwise pydantic-ai does it at the first turn, on the event loop."""
    if isinstance(model, str):
        with suppress(Exception):  # the run says what is wrong
            _load(model)
    if "openai" in sys.modules:
        build_response_types("openai")


@cache
def _load(model: str) -> None:
    """Import the packages of a model that is given by its name."""
    infer_model(model)


def _answer(output: Any, new: Sequence[ModelMessage]) -> Any:
    """The output; as `Shown` if the last turn has shown its text."""
    text = output if isinstance(output, str) else to_json(output).decode()
    last = next((message for message in reversed(new) if isinstance(message, ModelResponse)), None)
    return Shown(text) if last is not None and last.text and not last.tool_calls else text


def _failure(error: Exception) -> GuestFailed:
    named = type(error).__name__.lstrip("_")
    if isinstance(error, (AgentRunError, UserError)):
        return GuestFailed(f"The agent failed ({named}): {str(error)[:MAX_ERROR_CHARS]}")
    return GuestFailed(f"The agent failed ({named}).", hint="The server's log has its traceback.")


def _limits(journal: GuestJournal) -> UsageLimits | None:
    """The limit of turns that the configuration sets for this agent; else those of pydantic-ai apply."""
    own = journal.context.engine.settings.profiles.get(journal.context.run.profile)
    return None if own is None or own.max_steps is None else UsageLimits(request_limit=own.max_steps)


def _history(tx: Tx, run: Run, limit: int) -> tuple[History, Mapping[str, FunctionStepRow]]:
    """The conversation before the run's own message, and the rows that keep the messages of guests' runs in it."""
    history = history_before(tx, run, limit)
    of_runs = [one.run_id for one in history.exchanges if one.run_id is not None]
    return history, values_at(tx, of_runs, place_of(MESSAGES, 0))


async def _messages(
    journal: GuestJournal, history: History, kept: Mapping[str, FunctionStepRow]
) -> list[ModelMessage] | None:
    """The messages before this run: those of guests whole, those of other agents as texts."""
    messages: list[ModelMessage] = []
    if history.summary is not None:
        text = "".join(piece.text for piece in summary_message(history.summary).pieces if isinstance(piece, TextPiece))
        messages += messages_from([{"type": "text", "text": text}], ())
    for exchange in history.exchanges[:-1]:
        row = kept.get(exchange.run_id or "")
        whole = None if row is None else await journal.value_of(row)
        if whole is None:
            messages += messages_from(exchange.asked, exchange.answered)
        else:
            messages += ModelMessagesTypeAdapter.validate_python(whole)
    return messages or None

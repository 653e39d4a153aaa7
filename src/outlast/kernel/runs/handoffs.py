"""The end of a run whose agent hands the conversation over: its last transaction starts the run of the other agent."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from outlast.base.agent_errors import HandoffRefused
from outlast.base.errors import OutlastError, UnknownProfile
from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.db.savepoints import is_of_transaction, savepoint
from outlast.kernel.agents.agent import Agent
from outlast.kernel.agents.choice import demand_replaceable, demand_usable
from outlast.kernel.agents.handoff import HandoffTool
from outlast.kernel.models.turn_calls import parse_arguments
from outlast.kernel.runs import steer, store
from outlast.kernel.runs.context import RunContext
from outlast.kernel.runs.rules import HANDED_OVER, End
from outlast.kernel.runs.shapes import ToolResultData, whole_parts
from outlast.kernel.runs.thread_queue import NewRun, let_wait_for, queue_run
from outlast.kernel.runs.tool_call_validation import REMOVED_TOOL
from outlast.kernel.runs.transcript import Effect, Run, Transcript
from outlast.kernel.streams.log_store import NamedEvent
from outlast.kernel.threads import message_store as thread_messages
from outlast.kernel.threads import store as threads
from outlast.kernel.threads.parts import HandoffPart

MODE: Final = "handoff"  # of a run that another agent's run was handed over to
MOST_IN_A_ROW: Final = 10
DONE: Final = "The conversation was handed over to {title}."
NOT_FIRST: Final = "Nothing was done: another call of this turn has handed the conversation over to {title}."
CALLED: Final = "Another agent has called you and waits for your answer, so you cannot hand over. Answer it."
ANSWERED: Final = "You have given your answer in the same turn, so nothing was handed over."
IN_A_ROW: Final = (
    f"This conversation was handed over {MOST_IN_A_ROW} times since a person wrote, so nothing was handed over. Answer "
    "the person yourself: say what you know, and ask for what is missing."
)


class _Successor(NamedTuple):
    """The run that goes on, and the messages that it reads in place of this one."""

    run_id: str
    agent: Agent
    unread: Sequence[Effect]


async def hand_over(context: RunContext, effect_id: str) -> bool:
    """Make a transfer, after all other calls of its turn: end the run and start the other agent's, in one transaction.
    If that is refused, the model reads why. Returns True if the run has ended."""
    await context.files_saved()

    def change(tx: Tx, events: list[NamedEvent]) -> bool:
        journal = context.transcript_in(tx)
        if journal.run.cancel_reason is not None:  # it came first: the next step of the leg
            return False
        call = journal.effect(effect_id)
        try:
            with savepoint(tx):
                events.extend(_hand_over(tx, context, journal, call))
        except OutlastError as error:
            if is_of_transaction(error):
                raise
            events.append(_close(tx, call, f"{error.message} {error.hint}".strip(), is_error=True))
            return False
        return True

    return await context.record(change, last=True)


def _hand_over(tx: Tx, context: RunContext, journal: Transcript, call: Effect) -> list[NamedEvent]:
    """The events of the run's end. Raises `OutlastError` if it cannot hand over."""
    run, tool = journal.run, context.tool(call.tool)
    if not isinstance(tool, HandoffTool):  # planned by an attempt under another configuration
        raise HandoffRefused(REMOVED_TOOL.format(tool=call.tool))
    agent = _require_agent(tx, context, journal, tool.target, call.step)
    unread = journal.unread if agent.flow is None else ()  # a flow reads none: they stay in the thread, unanswered
    successor = _Successor(new_id("run"), agent, unread)
    part = HandoffPart(
        id=new_id("part"),
        call_id=call.call_id or "",
        by=context.agent.title,
        agent=agent.name,
        title=agent.title,
        reason=(parse_arguments(call.arguments or "") or {}).get("reason", ""),
        run_id=successor.run_id,
    )
    events = [_close(tx, call, DONE.format(title=agent.title))]
    others = [one for one in journal.calls_of(call.step) if one.status == "deferred" and one.id != call.id]
    events += [_close(tx, one, NOT_FIRST.format(title=agent.title), is_error=True) for one in others]
    events += whole_parts([part], call.step)
    for effect in unread:  # before the end, which takes those that are left for unanswered
        store.update_effect(tx, effect.id, status="cancelled", ended_at=tx.now)
    end, take_over = End("completed", HANDED_OVER), partial(_take_over, context=context, run=run, successor=successor)
    return events + context.settle_in(tx, end, run=run, before=events, take_over=take_over)


def _require_agent(tx: Tx, context: RunContext, journal: Transcript, name: str, step: int) -> Agent:
    """The agent that goes on. Raises `HandoffRefused`, `UnknownProfile`, `AgentNotAllowed`, or `MalformedInput` in the
    thread of a subject."""
    run, agents = journal.run, context.engine.agents
    if run.step_id is not None:
        raise HandoffRefused(CALLED, agent=name)
    if journal.answer(step) is not None:
        raise HandoffRefused(ANSWERED, agent=name)
    if _count_in_a_row(tx, run) >= MOST_IN_A_ROW:
        raise HandoffRefused(IN_A_ROW, agent=name)
    if name not in agents:  # removed since this run began
        raise UnknownProfile(f"There is no agent {name!r} on this server any more.", field="agent")
    thread, allowed, _ = threads.read_to_start(tx, run.thread_id)
    demand_replaceable(thread.profile)
    demand_usable(agents, name, allowed, run.project_id)
    return agents[name]


def _count_in_a_row(tx: Tx, run: Run) -> int:
    """How often the conversation was handed over since a person wrote, or retried or continued a run."""
    count = 0
    while run.mode == MODE and run.parent_run_id is not None and count < MOST_IN_A_ROW:
        run, count = store.run_of(tx, run.parent_run_id), count + 1
    return count


def _take_over(tx: Tx, *, context: RunContext, run: Run, successor: _Successor) -> None:
    """Start the other agent's run, before all that are queued. The thread is held, and this run has ended."""
    engine, agent, run_id = context.engine, successor.agent, successor.run_id
    thread, _, instructions = threads.hold_to_start(tx, run.thread_id)
    new = NewRun(
        run.project_id, run.thread_id, thread.workspace_id, agent.name, engine.catalog.get(agent.model or run.model),
        run.message_id, run.started_by, MODE, run.id, instructions=instructions,
    )  # fmt: skip
    let_wait_for(tx, run.id, run_id)
    queue_run(tx, engine, new, None, run_id)
    threads.set_agent(tx, run.thread_id, agent.name)
    for effect in successor.unread:
        message_id = steer.message_of(effect)
        thread_messages.take_turn(tx, run.thread_id, message_id, run_id)  # behind the answer that is over
        steer.add_unread(tx, store.run_of(tx, run_id), message_id)


def _close(tx: Tx, call: Effect, text: str, *, is_error: bool = False) -> NamedEvent:
    """Record the result of a transfer."""
    result: dict[str, Any] = {"content": text, "is_error": is_error}
    store.update_effect(tx, call.id, status="finished", ended_at=tx.now, result=result)
    shown = ToolResultData(
        part_id=call.part_id or "", call_id=call.call_id or "", status="error" if is_error else "done", result=text
    )
    return "tool_call.result", shown

"""Calls that their server carries on as tasks: looked after until they end, by this process or a later one.

The task's id is in the journal of the call before anything waits for it, so after a crash the same task is collected,
not begun again. A timer ends the task of a run that was cancelled while no worker held it.
"""

from collections.abc import Awaitable, Callable, Collection
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, Protocol

import anyio.to_thread
import orjson

from outlast.base.clock import Clock
from outlast.base.mcp_errors import McpServerFailed
from outlast.db.database import Tx
from outlast.kernel.agents.context import Context, Kept
from outlast.kernel.agents.tool import ToolResult
from outlast.kernel.mcp.dialogs import Answers
from outlast.kernel.mcp.live_calls import Ask, LiveCalls, refuse
from outlast.kernel.mcp.outcomes import Begun, Request, TaskState, Wanted, kept
from outlast.kernel.mcp.progress import Progress
from outlast.kernel.mcp.results import result_of
from outlast.kernel.runs import journal_store, store, timers
from outlast.kernel.runs.tables import TimerKind, effects

if TYPE_CHECKING:
    from mcp import ClientSession

TIMER: Final[TimerKind] = "mcp_task"
LOOK_AFTER: Final = timedelta(seconds=30)
PATIENCE_S: Final = 600.0  # with a server that cannot be reached while a task is at work there
LONGEST_WAIT_S: Final = 60.0
FORGOTTEN: Final = (
    "The MCP server {server} no longer knows the task of this call ({reason}). Whether the call took effect is not "
    "known. Check before repeating it."
)


class Reach(Protocol):
    """Does work over a connection to the server of a task. `is_new`: without the session that began it."""

    async def __call__(self, work: Callable[["ClientSession"], Awaitable[Any]], ask: Ask, is_new: bool) -> Any: ...


def kept_task(begun: Begun, server_id: str, *, is_durable: bool) -> Kept:
    """What the journal keeps of a task; with the timer that ends it with its run, if it outlasts this process."""

    def also(tx: Tx, step_id: str) -> None:
        timers.set_timer(tx, TIMER, step_id, tx.now + LOOK_AFTER)

    return Kept({"task": {**begun._asdict(), "server_id": server_id}}, also if is_durable else None)


class TaskCall:
    """The task of one call."""

    def __init__(
        self, context: Context, begun: Begun, *, server: str, reach: Reach, clock: Clock, calls: LiveCalls
    ) -> None:
        self._context, self._begun, self._server = context, begun, server
        self._reach, self._clock, self._calls = reach, clock, calls
        self._is_new_session = False

    async def collect(self, wanted: Wanted | None, answers: Answers, answered: Collection[str]) -> ToolResult | Kept:
        """Its result, once it has one, or what it wants to know of a person. `answers` are to what it `wanted` before;
        `answered`: the names of all that it was answered. Raises `McpServerFailed` if the server cannot be reached for
        long, and `ConnectionNeeded`."""
        from outlast.kernel.mcp import sdk_requests as sdk

        self._context.on_cancel(self.cancel)
        if wanted is not None and wanted.how == "task":
            await self._patiently(lambda one: sdk.answer_task(one, self._begun.task_id, answers))
        if wanted is not None and wanted.how == "live":
            call = self._calls.find(self._context.effect_id)
            if call is not None:
                call.answer(next(iter(answers.values())))
                return await self._taken(await self._calls.follow(self._context.effect_id, call))
        progress = Progress(self._context.show)
        while True:
            state: TaskState = await self._patiently(lambda one: sdk.task_state(one, self._begun.task_id))
            progress.say(state.message)
            found = await self._outcome(state, answered)
            if found is not None:
                return found
            await self._clock.sleep(state.poll_s or self._begun.poll_s)

    async def cancel(self) -> None:
        """Ask the server to end it."""
        from outlast.kernel.mcp import sdk_requests as sdk

        await self._reach(lambda one: sdk.cancel_task(one, self._begun.task_id), refuse, self._is_new_session)

    async def _outcome(self, state: TaskState, answered: Collection[str]) -> ToolResult | Kept | None:
        """What ends the waiting; None if the task is at work."""
        if state.status == "forgotten" and self._begun.session and not self._is_new_session:
            self._is_new_session = True  # the session is over; the task may be not
            return None
        if state.status == "forgotten":
            text = FORGOTTEN.format(server=self._server, reason=state.message[:200])
            return ToolResult(text, is_error=True, interrupted=True)
        if state.result is not None:
            return await self._taken(state.result)
        if state.status in ("failed", "cancelled", "completed"):
            reason = f": {state.message[:300]}" if state.message else ""
            return ToolResult(f"The task of the MCP server {self._server} was {state.status}{reason}.", is_error=True)
        if state.status != "input_required":
            return None
        if not state.requests:
            return await self._ask_live()
        open_requests = {key: one for key, one in state.requests.items() if key not in answered}
        return kept(Wanted(open_requests, "task"), self._server) if open_requests else None

    async def _ask_live(self) -> ToolResult | Kept | None:
        """Up to the revision 2025-11-25, a task asks a person over the connection that waits for its result."""
        from outlast.kernel.mcp import sdk_requests as sdk

        async def wait(ask: Ask) -> Any:
            return await self._reach(lambda one: sdk.task_result(one, self._begun.task_id), ask, self._is_new_session)

        try:
            return await self._taken(await self._calls.begin(self._context.effect_id, wait))
        except McpServerFailed:  # such as its time: the task is looked at again
            return None

    async def _taken(self, found: Any) -> ToolResult | Kept:
        if isinstance(found, Request):
            return kept(Wanted({"live": found}, "live"), self._server)
        return await anyio.to_thread.run_sync(result_of, found)

    async def _patiently(self, work: Callable[["ClientSession"], Awaitable[Any]]) -> Any:
        """The value of `work`, also if the server cannot be reached for a while."""
        since, wait_s = self._clock.monotonic(), self._begun.poll_s
        while True:
            try:
                return await self._reach(work, refuse, self._is_new_session)
            except McpServerFailed as error:
                if self._clock.monotonic() - since > PATIENCE_S:
                    raise McpServerFailed(f"{error.message} The call goes on there as a task.") from None
            await self._clock.sleep(wait_s)
            wait_s = min(wait_s * 2, LONGEST_WAIT_S)


def begun_in(task: dict[str, Any]) -> Begun:
    """The task that the journal keeps."""
    return Begun(**{name: value for name, value in task.items() if name != "server_id"})


def to_end(tx: Tx, step_id: str) -> tuple[str, dict[str, Any]] | None:
    """A task whose run was cancelled: the run's id, and the task. None if there is nothing to end; looks again later
    while the call has no result. Raises `NotFound` if it was deleted."""
    step = journal_store.step_of(tx, step_id)
    if step is None:
        return None
    if not store.has_ended(tx, step.effect_id):
        timers.set_timer(tx, TIMER, step_id, tx.now + LOOK_AFTER)
        return None
    if tx.value(effects.c.status, {"id": step.effect_id}) != "cancelled" or step.result is None:
        return None
    return step.run_id, orjson.loads(step.result)["task"]

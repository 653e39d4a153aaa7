"""Calls whose connection outlives the leg that began them: the server asked a person through it (up to revision
2025-11-25), and the run waits as a row. They end with this process: then the call is lost, and its next leg says so.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import anyio
from anyio.abc import TaskGroup

from outlast.base.clock import Clock, wait_at_most
from outlast.base.errors import OutlastError
from outlast.base.mcp_errors import McpServerFailed
from outlast.kernel.mcp.outcomes import MOST_REQUESTS, Request

LOOK_S: Final = 15.0  # between two looks whether a run that waits has ended
MOST_WAITING: Final = 200
MOST_BESIDE: Final = 8  # requests of `beside` at once
CANCELLED: Final = {"action": "cancel"}
Answer = Mapping[str, Any]
Ask = Callable[[Request], Awaitable[Answer]]
log = logging.getLogger("outlast.mcp")


class _Asked:
    def __init__(self, request: Request) -> None:
        self.request, self.answered, self.answer = request, anyio.Event(), CANCELLED


class LiveCall:
    """One call at work. Its leg waits in `next`; `scope` ends it."""

    def __init__(self) -> None:
        self.scope = anyio.CancelScope()
        self.asked: list[_Asked] = []
        self._news = anyio.Event()
        self._value: Any = None
        self._error: Exception | None = None
        self._is_over = False

    async def next(self) -> Any:
        """The call's value, or what its server asks next, as a `Request`. Raises what the call did."""
        while not self._is_over and not self.asked:
            await self._news.wait()
        if not self._is_over:
            return self.asked[0].request
        if self._error is not None:
            raise self._error
        return self._value

    def answer(self, answer: Answer) -> None:
        """Answer what `next` returned."""
        one = self.asked.pop(0)
        one.answer = dict(answer)
        self._news = anyio.Event()
        one.answered.set()

    def put(self, one: _Asked) -> None:
        self.asked.append(one)
        self._news.set()

    def end_cut(self) -> None:
        """A call that was cut off in the middle: its leg, if one waits, waits no longer."""
        if not self._is_over:
            self.end(error=McpServerFailed("The call was cut off with the connections of this server."))

    def end(self, value: Any = None, error: Exception | None = None) -> None:
        self._value, self._error, self._is_over = value, error, True
        self._news.set()


class LiveCalls:
    """The calls at work in this process, by the id of their effect. `run` keeps them; without it, no server can ask."""

    def __init__(self, clock: Clock, has_ended: Callable[[str], Awaitable[bool]]) -> None:
        """`has_ended`: whether the effect has its result, or will get none."""
        self._clock, self._has_ended = clock, has_ended
        self._calls: dict[str, LiveCall] = {}
        self._tasks: TaskGroup | None = None
        self._beside = anyio.Semaphore(MOST_BESIDE)

    async def run(self) -> None:
        """Until cancelled."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            try:
                await anyio.sleep_forever()
            finally:
                self._tasks = None

    async def beside(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do something for which nothing waits; its errors are logged. Lost with the process."""

        async def guarded() -> None:
            async with self._beside:
                try:
                    await work()
                except Exception:
                    log.exception("a request to an MCP server failed")

        if self._tasks is None:
            await guarded()
        else:
            self._tasks.start_soon(guarded)

    def find(self, effect_id: str) -> LiveCall | None:
        """The call of an effect whose server waits for an answer."""
        return self._calls.get(effect_id)

    async def begin(self, effect_id: str, work: Callable[[Ask], Awaitable[Any]]) -> Any:
        """Make a call; returns as `LiveCall.next`. If this is cancelled, the call is."""
        if self._tasks is None:
            return await work(refuse)
        self.drop(effect_id)
        call = self._calls[effect_id] = LiveCall()
        self._tasks.start_soon(self._keep, effect_id, call, work)
        return await self.follow(effect_id, call)

    async def follow(self, effect_id: str, call: LiveCall) -> Any:
        """As `LiveCall.next`; a call that does not ask is forgotten."""
        found = None
        try:
            found = await call.next()
        finally:
            if not isinstance(found, Request):
                self.drop(effect_id)
        return found

    def drop(self, effect_id: str) -> None:
        """End the call of an effect, if it has one."""
        call = self._calls.pop(effect_id, None)
        if call is not None:
            call.scope.cancel()

    async def _keep(self, effect_id: str, call: LiveCall, work: Callable[[Ask], Awaitable[Any]]) -> None:
        async def ask(request: Request) -> Answer:
            return await self._ask(effect_id, call, request)

        with call.scope:
            try:
                call.end(await work(ask))
            except Exception as error:  # its leg raises it
                call.end(error=error)
            finally:
                call.end_cut()
            while call.asked:  # the server gave up before the person answered: its result waits for the next leg
                await self._wait(effect_id, call, call.asked[0])
        if self._calls.get(effect_id) is call and call.scope.cancel_called:
            del self._calls[effect_id]

    async def _ask(self, effect_id: str, call: LiveCall, request: Request) -> Answer:
        is_full = sum(len(one.asked) for one in self._calls.values()) >= MOST_WAITING
        if is_full or len(call.asked) >= MOST_REQUESTS:
            log.warning("an MCP server cannot ask: too many questions are open")
            return CANCELLED
        one = _Asked(request)
        call.put(one)
        await self._wait(effect_id, call, one)
        return one.answer

    async def _wait(self, effect_id: str, call: LiveCall, one: _Asked) -> None:
        """Until it is answered; ends the call if its run has ended."""
        while not one.answered.is_set():
            await wait_at_most(self._clock, one.answered, LOOK_S)
            if not one.answered.is_set() and await self._is_over(effect_id):
                call.scope.cancel()

    async def _is_over(self, effect_id: str) -> bool:
        try:
            return await self._has_ended(effect_id)
        except OutlastError:  # the database is away for a moment, and the connections of all calls are kept here
            return False


async def refuse(_request: Request) -> Answer:
    """The answer where no person can be asked."""
    return CANCELLED

"""A call as a dialog: its server may ask a person before it gives a result, and the run waits for each answer.

What the server said is in the journal of the call before a person is asked, and that the call is made again with the
answer is there before it is. So after a crash the dialog goes on where it stood, and no call that may change something
is made twice.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any, Final, Protocol

from outlast.base.mcp_errors import McpServerFailed
from outlast.kernel.agents.context import Context, Kept
from outlast.kernel.agents.tool import ToolResult
from outlast.kernel.mcp.outcomes import Wanted, form_of, wanted_in
from outlast.kernel.runs.tool_calls import interrupted

MOST_ROUNDS: Final = 20
SAID, SENT = "said", "sent"
LOST: Final = (
    "The call of {tool} was lost: the connection on which its server had asked a person ended with a restart of this "
    "server. Whether the call took effect is not known. Check before repeating it."
)
Answers = Mapping[str, Mapping[str, Any]]


class Exchange(Protocol):
    """Makes the call, or continues it with a person's answers. Returns its result, or what has to be kept first."""

    async def __call__(self, wanted: Wanted | None, answers: Answers | None) -> "ToolResult | Kept": ...


class Collect(Protocol):
    """Continues a call that has become a task, as it was kept; `answered` are the names of all answers so far."""

    async def __call__(
        self, task: dict[str, Any], wanted: Wanted | None, answers: Answers, answered: Collection[str]
    ) -> "ToolResult | Kept": ...


class Dialog:
    """The dialog of one call of a tool. `with_account` does its argument once the person has an account."""

    def __init__(
        self,
        context: Context,
        *,
        tool: str,
        server: str,
        repeatable: bool,
        exchange: Exchange,
        collect: Collect,
        with_account: Callable[[Callable[[], Awaitable[Any]]], Awaitable[Any]],
    ) -> None:
        self._context, self._journal = context, context.journal
        self._tool, self._server, self._repeatable = tool, server, repeatable
        self._exchange, self._collect, self._with_account = exchange, collect, with_account
        self._task: dict[str, Any] | None = None
        self._answered: set[str] = set()

    async def result(self) -> ToolResult:
        """The result of the call. Raises what the exchange does."""
        wanted: Wanted | None = None
        answers: Answers | None = None
        for number in range(MOST_ROUNDS):
            found = await self._round(number, wanted, answers)
            if not isinstance(found, Kept):
                return found
            if "task" in found.value:
                self._task, wanted, answers = found.value["task"], None, None
                continue
            wanted = wanted_in(found.value)
            answers = {key: await self._ask(wanted, key) for key in wanted.requests}
            self._answered.update(answers if wanted.how == "task" else ())
            if wanted.how == "plain" and any(one["action"] != "accept" for one in answers.values()):
                return ToolResult("The person did not open the page that the server needs.", is_error=True)
        raise McpServerFailed(f"The MCP server {self._server} asked more than {MOST_ROUNDS} times.")

    async def _ask(self, wanted: Wanted, key: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = await self._journal.ask_form(form_of(wanted.requests[key], self._server))
        return found

    async def _round(self, number: int, wanted: Wanted | None, answers: Answers | None) -> ToolResult | Kept:
        may_be_sent, task = self._context.reattach, self._task
        if task is None and wanted is not None and wanted.how != "live":
            may_be_sent = may_be_sent and not await self._is_first()

        async def work() -> ToolResult | Kept:
            if task is not None:
                return await self._collect(task, wanted, answers or {}, self._answered)
            if may_be_sent and not self._repeatable:  # by an attempt that ended before it read the answer
                return interrupted(self._tool)
            return await self._exchange(wanted, answers)

        found: ToolResult | Kept = await self._with_account(lambda: self._journal.exchange(SAID, work))
        return found

    async def _is_first(self) -> bool:
        """Whether this attempt is the first that continues the call here. Recorded before it does."""
        marked: list[bool] = []

        async def mark() -> None:
            marked.append(True)

        await self._journal.step(SENT, mark)
        return bool(marked)


def lost(tool: str) -> ToolResult:
    """The result of a call whose connection ended while a person was asked."""
    return ToolResult(LOST.format(tool=tool), is_error=True, interrupted=True)

"""The arguments of a tool's call and of a run's stages."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from outlast.kernel.runs.transcript import Run

if TYPE_CHECKING:
    from outlast.kernel.runs.shapes import WorkflowStatus

CleanUp = Callable[[], Awaitable[None]]


async def nothing() -> None:
    """No clean-up."""


class Tell(Protocol):
    """Shows the current status of a workflow step; `detail` is one line for people, cut at 300 characters."""

    async def __call__(self, name: str, status: "WorkflowStatus", detail: str = "") -> None: ...


@dataclass(slots=True, kw_only=True)
class EffectContext:
    """An effect of a run: a tool's call or a stage. A later attempt calls it again with the same `effect_id` and
    `attempt` raised, so use the id as an idempotency key.

    A command that runs in the run's sandbox under the id `effect_id` is ended by the server if no worker is left to
    call the function passed to `on_cancel`. `lost` (workspace id, sandbox id) reports to the run that a sandbox is
    gone.
    """

    run: Run
    effect_id: str
    attempt: int
    lost: Callable[[str, str], Awaitable[None]]
    stop: CleanUp = nothing
    forget: CleanUp = nothing

    def on_cancel(self, stop: CleanUp) -> None:
        """Call `stop` when a user cancels the run; replaces an earlier function. It has one second."""
        self.stop = stop

    def on_recorded(self, forget: CleanUp) -> None:
        """Call `forget` once the result is recorded; replaces an earlier function. Only then may data for another
        attempt (a command's output) be removed."""
        self.forget = forget


@dataclass(slots=True, kw_only=True)
class Context(EffectContext):
    """The context of a tool's call. `reattach`: an earlier attempt has begun this very effect; collect its
    result or continue it, never do it twice. `started_at` is when it first began.

        @tool
        async def slow_report(ctx: Context, month: str) -> str:
            '''Write the report of a month (YYYY-MM).'''
            ctx.show("counting…")
            return await reports.write(month, idempotency_key=ctx.effect_id)
    """

    reattach: bool
    started_at: datetime
    output: Callable[[str], None]

    def show(self, text: str) -> None:
        """Add text to the output of the call that people see while it runs. The model does not read it."""
        self.output(text)


@dataclass(slots=True, kw_only=True)
class StageContext(EffectContext):
    """The context of `prepare` and `check`. All their work must be repeatable.

    `tell` shows a step of the workflow (`workflow.step`), saved before it returns; a step that a stage leaves at
    `started` is closed when the run ends. For a check: `said` is the text of every turn so far, oldest first, including
    inherited ones; `last`: no further turn follows, whatever the check finds; `untold` are problems with lines of the
    last turn that the model has not read yet: they are added to the check's problems even if it does not repeat them;
    `answer` is the model's answer for the agent's `output` (JSON text, or None before it).
    """

    tell: Tell
    said: Sequence[str] = ()
    last: bool = False
    untold: Sequence[str] = field(default=())
    answer: str | None = None

"""What a tool's call and a stage of a run are given."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from outlast.kernel.runs.model import Run
from outlast.kernel.runs.shapes import WorkflowStatus

CleanUp = Callable[[], Awaitable[None]]


async def nothing() -> None:
    """No clean-up."""


class Tell(Protocol):
    """Show a step of the workflow as it is now; `detail` is one line for people, cut at 300 characters."""

    async def __call__(self, name: str, status: WorkflowStatus, detail: str = "") -> None: ...


@dataclass(slots=True, kw_only=True)
class EffectContext:
    """An effect of a run: a tool's call or a stage. A later attempt calls it again with the same `effect_id` and
    `attempt` raised, so use the id as an idempotency key.

    A command that runs in the run's sandbox under the id `effect_id` is ended by the server where no worker is left to
    call what `on_cancel` was given. `lost` (workspace id, sandbox id) tells the run that a sandbox is gone.
    """

    run: Run
    effect_id: str
    attempt: int
    lost: Callable[[str, str], Awaitable[None]]
    stop: CleanUp = nothing
    forget: CleanUp = nothing

    def on_cancel(self, stop: CleanUp) -> None:
        """Call `stop` when a person cancels the run, in place of what was given before. It has one second."""
        self.stop = stop

    def on_recorded(self, forget: CleanUp) -> None:
        """Call `forget` once the result is recorded, in place of what was given before: what was kept for another
        attempt (a command's output) may go then, not earlier."""
        self.forget = forget


@dataclass(slots=True, kw_only=True)
class Context(EffectContext):
    """What a tool is given when it is called. `reattach`: an earlier attempt has begun this very effect; collect its
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
        """Add text to what people see of the call while it runs. The model does not read it."""
        self.output(text)


@dataclass(slots=True, kw_only=True)
class StageContext(EffectContext):
    """What `prepare` and `check` are given. Whatever they do must be repeatable.

    `tell` shows a step of the workflow (`workflow.step`), saved before it returns; a step that a stage leaves at
    `started` is closed when the run ends. For a check: `said` is the text of every turn so far, oldest first, also of
    inherited ones; `last`: no further turn follows, whatever it finds; `untold` are problems with lines of the last
    turn that the model has not read yet: they are among the check's problems whether it repeats them or not;
    `answer` is what the model gave as the agent's `output` (JSON text; None: nothing yet).
    """

    tell: Tell
    said: Sequence[str] = ()
    last: bool = False
    untold: Sequence[str] = field(default=())
    answer: str | None = None

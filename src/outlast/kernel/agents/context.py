"""The arguments of a tool's call, of a flow and of a run's stages."""

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar, overload

if TYPE_CHECKING:  # `from outlast import Context` loads no Pydantic
    from random import Random

    from pydantic import BaseModel

    from outlast.db.database import Tx
    from outlast.kernel.agents.resources import Files, Resources, RunSandbox, Secrets, State
    from outlast.kernel.runs.forms import Form
    from outlast.kernel.runs.shapes import AccountData, WorkflowStatus
    from outlast.kernel.runs.transcript import Run

CleanUp = Callable[[], Awaitable[None]]
T = TypeVar("T")


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

    this_run: "Run"
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


class Callee(Protocol):
    """What a call of an `Agent` needs to know of it."""

    @property
    def name(self) -> str: ...
    @property
    def output(self) -> "type[BaseModel] | None": ...
    @property
    def title(self) -> str: ...
    @property
    def model(self) -> str | None: ...
    @property
    def sandbox(self) -> bool: ...


class Kept(NamedTuple):
    """What an exchange with another program has to keep before it goes on; `value` travels as JSON. `also` is done in
    the transaction that keeps it, with the id of the step."""

    value: Any
    also: "Callable[[Tx, str], None] | None" = None


class Journal(Protocol):
    """What keeps the steps of a function; `kernel/runs/journal.py` implements it. The methods are those of `Context`,
    which documents them."""

    async def step(self, name: str, function: Callable[..., Any], *args: Any, **named: Any) -> Any: ...
    async def run(self, agent: Callee | str, message: str, context: Any, key: str) -> Any: ...
    async def gather(self, *branches: Awaitable[Any]) -> list[Any]: ...
    async def ask(self, question: str, options: Sequence[str], multiple: bool) -> Any: ...
    async def sleep_until(self, when: datetime) -> None: ...
    async def ask_form(self, form: "Form") -> Any: ...
    async def exchange(self, name: str, work: Callable[[], Awaitable["T | Kept"]]) -> "T | Kept": ...
    async def with_account(
        self, account: "AccountData", work: Callable[[], Awaitable[T]], is_connected: "Callable[[Tx], bool]"
    ) -> T | None: ...
    def now(self) -> datetime: ...
    def random(self) -> "Random": ...


@dataclass(slots=True, kw_only=True)
class Context(EffectContext):
    """The context of a tool's call or of a flow.

        @tool
        async def refund(ctx: Context, order_id: str) -> str:
            '''Pay an order back.'''
            charge = await ctx.step("find", shop.charge_of, order_id)
            ctx.show(f"{charge.cents / 100:.2f} €")
            return await ctx.step("pay", shop.refund, charge, idempotency_key=ctx.effect_id)

    `step`, `run`, `ask` and `sleep_until` write their results in the run's journal. While one of them waits, the run is
    only a row, for days if necessary; then the function is called again from its top, and what the journal holds is
    returned instead of done again. The same happens after a crash. So the function must make these calls in the same
    order each time, and everything else that it does with effect belongs into a step: `now()` and `random()` return the
    same at each call of the function. Another name at a place of the journal ends the run, or the call, with
    `flow_changed`.

    A run that continues a flow's failed or cancelled run has its journal, without the steps that waited, and without
    failures that the function did not go on after: these are tried again, with another `effect_id`. A retry has none.

    `reattach`: an earlier attempt has begun this very effect; collect its result or continue it, never do it twice.
    `started_at` is when it first began. `message`: for a flow, the text of the message that it answers.
    """

    reattach: bool
    started_at: datetime
    output: Callable[[str], None]
    journal: Journal
    resources: "Resources"
    message: str = ""

    @property
    def state(self) -> "State":
        """The state of the thread: a JSON object that all its runs and agents share."""
        return self.resources.state

    @property
    def sandbox(self) -> "RunSandbox":
        """The sandbox of the run: commands and files of the workspace."""
        return self.resources.sandbox

    @property
    def files(self) -> "Files":
        """The files of the thread and the project, and those that the function shows to people."""
        return self.resources.files

    @property
    def secrets(self) -> "Secrets":
        """Texts that stand for secrets in the sandbox; never their values."""
        return self.resources.secrets

    async def connect(self, name: str) -> str:
        """A text that stands for the token of the person's account on a service that the agent names in its
        `connections`, such as `github`. In the sandbox it becomes a placeholder, as with `secrets`. If the account is
        not connected, or no longer good, the person is asked to connect it, and the run waits until they have.

            token = await ctx.connect("github")
            await ctx.sandbox.run(f"curl -H 'Authorization: Bearer {token}' https://api.github.com/user/repos")

        Raises `UnknownConnection`, and `ConnectionNeeded` if the person goes on without it."""
        return await self.resources.connect(name)

    def show(self, text: str) -> None:
        """Add text to the output of the call that people see while it runs. The model does not read it."""
        self.output(text)

    @overload
    async def step(self, name: str, function: Callable[..., Coroutine[Any, Any, T]], *args: Any, **named: Any) -> T: ...
    @overload
    async def step(self, name: str, function: Callable[..., T], *args: Any, **named: Any) -> T: ...
    async def step(self, name: str, function: Callable[..., Any], *args: Any, **named: Any) -> Any:
        """`function(*args, **named)`, once: its value is recorded and returned from then on.

        A plain `def` runs in a thread. A crash in it calls it again, so pass `ctx.effect_id` on as an idempotency key
        where doing it twice would harm. The value travels as JSON, at most 1 MB, and comes back as the type of the
        function's return annotation (a dataclass, a Pydantic model, …), without one as plain lists, dicts and texts.
        Raises `StepFailed` if the function raised: that is recorded too, so try again with another step.
        """
        return await self.journal.step(name, function, *args, **named)

    async def run(self, agent: Callee | str, message: str, *, context: Any = None, key: str = "") -> Any:
        """Let another agent answer a message, in a thread of its own that people see, approve and cancel from here.

        Returns the text of its answer, or an object of its `output`. `context`: data that it reads below the message,
        as JSON: Pydantic models, dataclasses, lists, dicts, texts, numbers. `key` names the run among several of the
        same agent (default: by order). Up to 8 runs of one function work side by side, the others wait; agents may call
        agents three deep. They are cancelled if this run ends first. Raises `StepFailed` if the run failed or was
        cancelled.
        """
        return await self.journal.run(agent, message, context, key)

    async def gather(self, *branches: Awaitable[Any]) -> list[Any]:
        """The results of coroutines that work side by side, in order. All of them end before the first error, in this
        order, is raised."""
        return await self.journal.gather(*branches)

    async def ask(self, question: str, options: Sequence[str] = (), *, multiple: bool = False) -> Any:
        """A person's answer to a question: one of the options, or a text if there are none; a list if `multiple`."""
        return await self.journal.ask(question, options, multiple)

    async def sleep_until(self, when: datetime) -> None:
        """Wait until then (a time with a zone), in this process or a later one."""
        await self.journal.sleep_until(when)

    async def sleep(self, seconds: float) -> None:
        """Wait that long, as `sleep_until`."""
        await self.sleep_until(self.now() + timedelta(seconds=seconds))

    def now(self) -> datetime:
        """When the last step ended, within this branch of a `gather`, or the function first began; in UTC. The same at
        each call of the function."""
        return self.journal.now()

    def random(self) -> "Random":
        """A generator that gives the same numbers at each call of the function."""
        return self.journal.random()


@dataclass(slots=True, kw_only=True)
class StageContext(EffectContext):
    """The context of `prepare` and `check`. All their work must be repeatable.

    `tell` shows a step of the workflow (`workflow.step`), saved before it returns; a step that a stage leaves at
    `started` is closed when the run ends. For a check: `said` is the text of every turn so far, oldest first, including
    inherited ones; `unchecked` the texts of this run's turns since its last check; `last`: no further turn follows,
    whatever the check finds; `untold` are problems with lines of the last turn that the model has not read yet: they
    are added to the check's problems even if it does not repeat them; `answer` is the model's answer for the agent's
    `output` (JSON text, or None before it).
    """

    tell: Tell
    said: Sequence[str] = ()
    unchecked: Sequence[str] = ()
    last: bool = False
    untold: Sequence[str] = field(default=())
    answer: str | None = None

"""What an agent is to the runs room: a profile with its tools, as Protocols that `outlast.agents` fills.

A tool is one class in one file of `kernel/agents/tools/`; a profile names the tools it offers. The room calls them by
effect: the same effect may be called again by a later attempt, with `attempt` raised.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from outlast.base.events import FileChange, Part
from outlast.base.screen_data import WorkflowName, WorkflowStatus
from outlast.db.database import Tx
from outlast.kernel.models.protocol import ModelMessage, ToolSpec
from outlast.kernel.runs.model import Run


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool gives back: the text for the model, whether it failed, the files it changed in the workspace, and
    what people are shown of it behind the call (`parts`; their `step` is set), recorded together with the result."""

    content: str
    is_error: bool = False
    files: tuple[FileChange, ...] = ()
    parts: tuple[Part, ...] = ()
    interrupted: bool = (
        False  # an earlier attempt had started it, and it could be neither re-attached nor repeated
    )
    notes: tuple[
        str, ...
    ] = ()  # what the model is told beside the results of the step, in messages of their own


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool may use. `attempt` above 1 with `reattach` true means: an earlier attempt has begun this very effect;
    collect its result or go on with it, never do it twice."""

    run: Run
    effect_id: str
    attempt: int
    reattach: bool
    started_at: Any
    output: Callable[[str], None]  # shown live in the tool call's part
    lost: Callable[
        [str, str], Awaitable[None]
    ]  # (workspace id, sandbox id): tell the run that this sandbox is gone


class Tool(Protocol):
    """One thing an agent can do. `asks_person`: the call becomes a question, answered by a person, and `run` is never
    called. `repeatable`: calling it again with the same arguments does no harm."""

    @property
    def name(self) -> str: ...
    @property
    def asks_person(self) -> bool: ...
    @property
    def repeatable(self) -> bool: ...
    def spec(self) -> ToolSpec: ...
    def check(self, arguments: Mapping[str, Any]) -> None:
        """Raise `ArgumentsInvalid` naming the field that is wrong."""

    async def run(self, context: ToolContext, arguments: Mapping[str, Any]) -> ToolResult:
        """Do it. An `OutlastError` becomes an error result that the model reads; cancelled: see `stop`."""

    async def stop(self, context: ToolContext) -> None:
        """End what `run` began (a person cancelled). Must return within a second."""

    async def forget(self, context: ToolContext) -> None:
        """The result is recorded: whoever keeps it for a re-attach may let go."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is told before the run's own turns. `notices` are told to the person: code and text each."""

    system: str
    messages: Sequence[ModelMessage]
    notices: Sequence[tuple[str, str]] = ()


class Tell(Protocol):
    """Show a step of the workflow as it is now; `detail` is one line for people, cut at 300 characters."""

    async def __call__(self, name: WorkflowName, status: WorkflowStatus, detail: str = "") -> None: ...


@dataclass(frozen=True, slots=True)
class StageContext:
    """What a stage may use. Like a tool's effect it may be called again by a later attempt, with the same
    `effect_id` and `attempt` raised: whatever it does must be repeatable. A command that it runs under the id
    `effect_id` in the run's sandbox is ended for it where no worker is left to call `stop`.

    `tell` shows a step of the workflow (`workflow.step`), saved before it returns; a step that a stage leaves at
    `started` is closed when the run ends. `lost` as for tools. For a check: `said` is the text of every turn so far,
    oldest first, also of inherited ones; `last` that no further turn follows, whatever it finds; `untold` are problems
    with lines of the last turn that the model has not been told of (`Lined`): they stand among the check's problems
    whether it repeats them or not.
    """

    run: Run
    effect_id: str
    attempt: int
    tell: Tell
    lost: Callable[[str, str], Awaitable[None]]
    said: Sequence[str] = ()
    last: bool = False
    untold: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class StageResult:
    """`problems`: what a check found, each a text that the model is told so that it goes on and mends it; at the step
    limit, or where `mendable` is false, the run ends with them (stop reason `problems`, not charged). `parts`: added
    to the answer (a picture, a notice); their `step` is set. `facts`: plain JSON kept in the journal and handed to
    `finish`, those of the last check over older ones. `changed_files`: the workspace may differ from its newest
    checkpoint now."""

    problems: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    mendable: bool = True
    changed_files: bool = False


@runtime_checkable
class Staged(Protocol):
    """What a profile may offer besides: work before the first turn of a run and after the last. Both are effects in
    the journal (kinds `prepare` and `check`): named before they start, recorded with their result, never repeated once
    recorded. A run that continues another one prepares again.

    Errors as for tools: `SandboxLost` tries the stage again in the new sandbox, `SandboxUnavailable` a little later;
    when that does not help, `prepare` ends the run without an answer and `check` with the one there is, both to be
    retried. Whatever else `prepare` raises ends the run too; out of `check` it is a problem that nobody can mend.
    """

    @property
    def done_mark(self) -> str:
        """Text by which a turn says that the work is done, also one that calls tools: a check follows then. Empty:
        only a turn without calls says so."""

    async def prepare(self, context: StageContext) -> StageResult: ...
    async def check(self, context: StageContext) -> StageResult: ...
    async def stop(self, context: StageContext) -> None:
        """End what a stage began (a person cancelled). Must return within a second."""

    async def forget(self, context: StageContext) -> None:
        """The result is recorded: what was kept for another attempt (a command's result) may go, not before."""


@dataclass(frozen=True, slots=True)
class LinesTaken:
    """What became of a model's lines. `events` are told in the run's log, in the transaction that took the lines;
    `prose` is what of them people read (shown as the step's text, with its line breaks); `problems` are lines that
    could not be taken, each a text that the model is told before its next turn; `counts` are added up over the step for
    `step_part` and kept with the turn."""

    events: Sequence[tuple[str, Any]] = ()
    prose: str = ""
    problems: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)


@runtime_checkable
class Lined(Protocol):
    """What a profile may offer besides: its model writes lines for the server. They are not shown as text: each whole
    line is handed over while the model still writes, several together where they come fast, in one transaction of the
    run's fence with the events that tell of them. The raw text stays in the transcript.

    What a step's lines did stands as soon as it is told, also when the run is cancelled or fails; a step that is asked
    again (the server died, the model's stream broke) is taken back first, with the `step.reset` that says so. A line
    ends at a line break, at a tool call, or with the turn; JSON that the model spread over several lines is one line.
    Blank lines are handed over too: they keep paragraphs of prose apart.
    """

    def prepare_lines(self, lines: Sequence[str]) -> None:
        """What may be worked out of lines before the transaction that takes them; called in a thread, where one of them
        is long. Never raises for what a model wrote."""

    def take_lines(self, tx: Tx, run: Run, step: int, lines: Sequence[str]) -> LinesTaken:
        """Take whole lines of one turn, in order. Never raises for what a model wrote; should it raise nevertheless,
        what it did is taken back and the model told that these lines could not be taken."""

    def reset_step(self, tx: Tx, run: Run, step: int) -> Sequence[tuple[str, Any]]:
        """The step is asked again: take back what its lines did, and say so. Called again, it does nothing."""

    def step_part(self, tx: Tx, run: Run, step: int, counts: Mapping[str, int]) -> Part | None:
        """The part that stands for the step's lines in the answer; None: they changed nothing. Its `step` is set.
        Asked at the end of the turn, or at the end of a run that was cut in it."""

    def run_ended(self, tx: Tx, run: Run, status: str) -> Sequence[tuple[str, Any]]:
        """The run ends, however it ends (`status`: completed | cancelled | error), in the settle transaction and after
        `finish`: what is to be told of it in the run's log (statistics, with `usage_of` of this transaction), and what
        stood waiting for it goes on. Must not raise."""


@dataclass(frozen=True, slots=True)
class Finished:
    """What `finish` may give back besides a plain list of problems: `events` are told in the run's log."""

    problems: Sequence[str] = ()
    events: Sequence[tuple[str, Any]] = ()


class Profile(Protocol):
    """How an agent behaves. May be `Staged` and `Lined` too."""

    @property
    def name(self) -> str: ...
    @property
    def tools(self) -> Mapping[str, Tool]: ...
    def prompt(self, tx: Tx, run: Run) -> Prompt:
        """System text and history, read in one transaction: at most the profile's messages and token budget."""

    def finish(
        self, tx: Tx, run: Run, parts: Sequence[Mapping[str, Any]], facts: Mapping[str, Any]
    ) -> list[str] | Finished:
        """The profile's own writes in the settle transaction of a run that completes; `facts` are those of its stages
        (empty: it has none). Returns the problems it found (empty: none), and with `Finished` what is to be told."""


def stages_of(profile: Profile) -> Staged | None:
    """The profile as one with stages; None: it has none. Asked for each leg, so the common answer is quick."""
    return profile if hasattr(profile, "done_mark") and isinstance(profile, Staged) else None


def lines_of(profile: Profile) -> Lined | None:
    """The profile as one whose model writes lines; None: it writes text."""
    return profile if hasattr(profile, "take_lines") and isinstance(profile, Lined) else None

"""The hooks that an agent may have in addition to its instructions and tools, and their results."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from outlast.kernel.agents.context import StageContext
from outlast.kernel.agents.prompt import Conversation, PromptContext
from outlast.kernel.runs.transcript import Run

if TYPE_CHECKING:
    from outlast.db.database import Tx
    from outlast.kernel.threads.parts import Part


@dataclass(frozen=True, slots=True)
class StageResult:
    """`problems`: the problems that a check found, each a text that the model reads so that it continues and fixes it;
    at the step limit, or if `mendable` is false, the run ends with them (stop reason `problems`, not charged). `parts`:
    added to the answer (a picture, a notice); their `step` is set. `facts`: plain JSON kept in the journal and passed
    to `finish`; facts of the last check overwrite older ones. `changed_files`: the workspace may now differ from its
    newest checkpoint. `withdraw`: a check takes the texts of the turns since the last check out of the answer, with the
    reasoning in them; the model still reads them, to write them again. If the run ends with the problems, a notice says
    that the answer is not shown."""

    problems: tuple[str, ...] = ()
    parts: "tuple[Part, ...]" = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    mendable: bool = True
    changed_files: bool = False
    withdraw: bool = False


@dataclass(frozen=True, slots=True)
class LinesTaken:
    """The result of a model's lines. `events` go into the run's log, in the transaction that took the lines; `prose` is
    their text for people (shown as the step's text, with its line breaks); `problems` are lines that could not be
    taken, each a text that the model reads before its next turn; `counts` are added up over the step for `Lines.part`
    and kept with the turn."""

    events: Sequence[tuple[str, Any]] = ()
    prose: str = ""
    problems: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)


class Lines(Protocol):
    """For an agent whose model writes lines for the server. They are not shown as text: each whole line is passed on
    while the model still writes, several together if they come fast, in one transaction of the run's fence with the
    events that show them. The raw text stays in the transcript.

    The effects of a step's lines are kept once they are shown, even if the run is cancelled or fails; those of a step
    that is asked again (the server died, the model's stream broke) are taken back first, with a `step.reset`. A line
    ends at a line break, at a tool call, or with the turn; JSON that the model spread over several lines is one line.
    Blank lines are passed on too: they separate paragraphs of prose.
    """

    def prepare(self, lines: Sequence[str]) -> None:
        """Prepare lines before the transaction that takes them; called in a thread if one of them is long. Never raises
        for a text of the model."""

    def take(self, tx: "Tx", run: Run, step: int, lines: Sequence[str]) -> LinesTaken:
        """Take whole lines of one turn, in order. Never raises for a text of the model; if it raises anyway, its
        changes are undone and the model reads that these lines could not be taken."""

    def reset(self, tx: "Tx", run: Run, step: int) -> Sequence[tuple[str, Any]]:
        """The step is asked again: undo the effects of its lines, and publish that. A repeated call does nothing."""

    def part(self, tx: "Tx", run: Run, step: int, counts: Mapping[str, int]) -> "Part | None":
        """The part that represents the step's lines in the answer, or None if they changed nothing. Its `step` is set.
        Called at the end of the turn, or at the end of a run that was cut in it."""

    def end(self, tx: "Tx", run: Run, status: str) -> Sequence[tuple[str, Any]]:
        """The run ends in any way (`status`: completed | cancelled | error); called in the settle transaction, after
        `finish`. Returns events for the run's log (statistics, with `usage_of` of this transaction), and resumes work
        that waited for the run. If it raises, its changes are undone and the error is noted among the run's
        problems."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The result of `finish`: the `problems` it found (the run is then not charged), `events` for the run's log, and a
    `summary` of the run in one line for memory; if it is empty, one is made from the request and the answer."""

    problems: Sequence[str] = ()
    events: Sequence[tuple[str, Any]] = ()
    summary: str = ""


Instructions = Callable[[PromptContext], str]
ContextHook = Callable[[PromptContext], Conversation]
Stage = Callable[[StageContext], Awaitable[StageResult]]
Finish = Callable[["Tx", Run, Sequence[Mapping[str, Any]], Mapping[str, Any]], Finished | None]
"""An agent's own writes in the last transaction of a run that completes: (tx, run, the answer's parts, the facts of its
stages, or empty without stages). If it raises, its writes are undone and the answer is saved anyway, with a notice (in
a run with stages) or a problem."""

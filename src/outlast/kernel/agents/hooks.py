"""The hooks that an agent may have beside its instructions and tools, and what they give back."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from outlast.db.database import Tx
from outlast.kernel.agents.context import StageContext
from outlast.kernel.agents.prompt import Conversation, PromptContext
from outlast.kernel.runs.model import Run
from outlast.kernel.threads.parts import Part


@dataclass(frozen=True, slots=True)
class StageResult:
    """`problems`: what a check found, each a text that the model reads so that it continues and mends it; at the step
    limit, or where `mendable` is false, the run ends with them (stop reason `problems`, not charged). `parts`: added
    to the answer (a picture, a notice); their `step` is set. `facts`: plain JSON kept in the journal and handed to
    `finish`, those of the last check over older ones. `changed_files`: the workspace may differ from its newest
    checkpoint now."""

    problems: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    mendable: bool = True
    changed_files: bool = False


@dataclass(frozen=True, slots=True)
class LinesTaken:
    """What became of a model's lines. `events` go into the run's log, in the transaction that took the lines;
    `prose` is what of them people read (shown as the step's text, with its line breaks); `problems` are lines that
    could not be taken, each a text that the model reads before its next turn; `counts` are added up over the step for
    `Lines.part` and kept with the turn."""

    events: Sequence[tuple[str, Any]] = ()
    prose: str = ""
    problems: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)


class Lines(Protocol):
    """For an agent whose model writes lines for the server. They are not shown as text: each whole line is handed over
    while the model still writes, several together where they come fast, in one transaction of the run's fence with the
    events that show them. The raw text stays in the transcript.

    What a step's lines did is kept once it is shown, also when the run is cancelled or fails; a step that is asked
    again (the server died, the model's stream broke) is taken back first, with the `step.reset` that says so. A line
    ends at a line break, at a tool call, or with the turn; JSON that the model spread over several lines is one line.
    Blank lines are handed over too: they keep paragraphs of prose apart.
    """

    def prepare(self, lines: Sequence[str]) -> None:
        """What may be worked out of lines before the transaction that takes them; called in a thread, where one of them
        is long. Never raises for what a model wrote."""

    def take(self, tx: Tx, run: Run, step: int, lines: Sequence[str]) -> LinesTaken:
        """Take whole lines of one turn, in order. Never raises for what a model wrote; should it raise nevertheless,
        what it did is taken back and the model reads that these lines could not be taken."""

    def reset(self, tx: Tx, run: Run, step: int) -> Sequence[tuple[str, Any]]:
        """The step is asked again: take back what its lines did, and say so. Called again, it does nothing."""

    def part(self, tx: Tx, run: Run, step: int, counts: Mapping[str, int]) -> Part | None:
        """The part that represents the step's lines in the answer; None: they changed nothing. Its `step` is set.
        Asked at the end of the turn, or at the end of a run that was cut in it."""

    def end(self, tx: Tx, run: Run, status: str) -> Sequence[tuple[str, Any]]:
        """The run ends, however it ends (`status`: completed | cancelled | error), in the settle transaction and after
        `finish`: what to add to the run's log (statistics, with `usage_of` of this transaction), and what
        waited for it continues. Where it raises, that is undone and noted among the run's problems."""


@dataclass(frozen=True, slots=True)
class Finished:
    """What `finish` may give back: the `problems` it found (the run is not charged then) and `events` for the run's
    log."""

    problems: Sequence[str] = ()
    events: Sequence[tuple[str, Any]] = ()


Instructions = Callable[[PromptContext], str]
ContextHook = Callable[[PromptContext], Conversation]
Stage = Callable[[StageContext], Awaitable[StageResult]]
Finish = Callable[[Tx, Run, Sequence[Mapping[str, Any]], Mapping[str, Any]], Finished | None]
"""An agent's own writes in the last transaction of a run that completes: (tx, run, the answer's parts, what its stages
found; empty: it has none). Where it raises, its writes are undone and the answer is saved all the same, with a notice
(in a run with stages) or a problem."""

"""The end of a run as a value: the decision of the rules, the parts of the answer, and an error that a user can act
on."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, Final

from outlast.base.errors import DiskFull, FenceLost, OutlastError, StorageUnavailable
from outlast.base.records import dataclass
from outlast.db.database import Tx
from outlast.kernel.runs.rules import HANDED_OVER, End
from outlast.kernel.runs.shapes import ErrorData
from outlast.kernel.streams.fold import RunFold

NO_OUTCOME: Final = (StorageUnavailable, DiskFull, FenceLost)
"""Errors that are not an effect's failure: the run is resumed, or is another attempt's."""


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a run: the decision of the rules, the parts so far, and an error that a user can act on. `facts` and
    `workflow` (the steps shown so far, from the fold) are set for a run with stages. `take_over` starts the run that
    another agent takes the thread over with, in place of the next in the queue."""

    end: End
    parts: Sequence[Mapping[str, Any]]
    error: ErrorData | None = None
    problems: tuple[str, ...] = ()
    save_message: bool = True
    by: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    workflow: Sequence[Mapping[str, Any]] = ()
    take_over: Callable[[Tx], None] | None = None

    @property
    def stop_reason(self) -> str:
        """An answer that was cut at its limit may have problems too; the limit takes precedence, because a user can act
        on it. So does a handoff, because another run follows it."""
        if self.problems and self.end.status == "completed" and self.end.stop_reason not in ("length", HANDED_OVER):
            return "problems"
        return self.end.stop_reason

    @property
    def last_step(self) -> int:
        """The last step that has a part, or 0 if none has."""
        return max((part.get("step", 0) for part in self.parts), default=0)

    @classmethod
    def of(cls, end: End, shown: RunFold, error: ErrorData | None = None, by: str | None = None) -> "Ending":
        """The end of a run without a worker, with the parts from its log."""
        return cls(end, shown.parts, error, by=by, workflow=shown.workflow)


def error_data(error: OutlastError) -> ErrorData:
    """The error in the form that an answer and its events carry."""
    return ErrorData(code=error.code, message=error.message, hint=error.hint, retry_after_s=error.retry_after_s)


def leaves_of(error: BaseException) -> list[BaseException]:
    """The errors of a group and of the groups in it; a single error that is no group is returned alone."""
    if isinstance(error, BaseExceptionGroup):
        return [leaf for inner in error.exceptions for leaf in leaves_of(inner)]
    return [error]

"""How a run ends, as a value: what the rules said, what was made, and what a person can act on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from outlast.base.errors import DiskFull, FenceLost, OutlastError, StorageUnavailable
from outlast.kernel.runs.rules import End
from outlast.kernel.runs.shapes import ErrorData
from outlast.kernel.streams.fold import RunFold

NO_OUTCOME: Final = (StorageUnavailable, DiskFull, FenceLost)
"""Errors that are not an effect's failure: the run is resumed, or is another attempt's."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ends: the rules' word, the parts made so far, and an error for a person to act on. `facts` and
    `workflow` (the steps shown so far, as the fold has them) are those of a run with stages."""

    end: End
    parts: Sequence[Mapping[str, Any]]
    error: ErrorData | None = None
    problems: tuple[str, ...] = ()
    save_message: bool = True
    by: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    workflow: Sequence[Mapping[str, Any]] = ()

    @property
    def stop_reason(self) -> str:
        """An answer that was cut at its limit may have problems too; the limit is what a person can act on."""
        if self.problems and self.end.status == "completed" and self.end.stop_reason != "length":
            return "problems"
        return self.end.stop_reason

    @property
    def last_step(self) -> int:
        """The last step that has a part; 0: none has."""
        return max((part.get("step", 0) for part in self.parts), default=0)

    @classmethod
    def of(cls, end: End, shown: RunFold, error: ErrorData | None = None, by: str | None = None) -> "Ending":
        """The end of a run that no worker holds any more, with what its log shows."""
        return cls(end, shown.parts, error, by=by, workflow=shown.workflow)


def error_data(error: OutlastError) -> ErrorData:
    """The error as an answer and its events carry it."""
    return ErrorData(code=error.code, message=error.message, hint=error.hint, retry_after_s=error.retry_after_s)


def leaves_of(error: BaseException) -> list[BaseException]:
    """The errors of a group and of the groups in it; an error that is no group is the only one."""
    if isinstance(error, BaseExceptionGroup):
        return [leaf for inner in error.exceptions for leaf in leaves_of(inner)]
    return [error]

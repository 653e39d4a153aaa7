"""Decisions shared by the subjects of all apps. Pure."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from outlast.base.errors import Conflict

SubjectState = Literal["new", "working", "waiting", "ready", "problems", "failed"]
_BUSY: Final[Mapping[str, SubjectState]] = {
    "generating": "working",
    "awaiting_approval": "waiting",
    "paused": "waiting",
    "error": "failed",
}
_COPY: Final = " (copy)"


def state_of(run_status: str, problems: Sequence[str], *, begun: bool) -> SubjectState:
    """The state of a subject with files, from the status of its thread's runs, its known problems, and whether anything
    was requested or created yet (`begun`)."""
    return _BUSY.get(run_status) or ("problems" if problems else "ready" if begun else "new")


def copy_title(title: str, limit_chars: int) -> str:
    """The title of a copy; the original's title is shortened if it does not fit."""
    room = limit_chars - len(_COPY)
    return f"{title if len(title) <= room else title[: max(room - 1, 0)] + '…'}{_COPY}"[:limit_chars]


def demand_room(error: type[Conflict], things: str, project_id: str, have: int, most: int) -> None:
    """Raise the error if a project with `have` things (pages, screens …) cannot take another; `most` 0 means no
    limit."""
    if most and have >= most:
        raise error(
            f"The project has {have} {things}; at most {most} are allowed.",
            project_id=project_id,
            count=have,
            limit=most,
        )

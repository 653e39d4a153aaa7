"""The life of an edit, and of the proposal that it belongs to. Pure: docs/states.md draws it."""

from collections.abc import Iterable
from typing import Literal

from outlast.apps.documents.proposals.shapes import EditData, EditState
from outlast.base.errors import EditDecided

Decision = Literal["accept", "reject"]


def decided(edit: EditData, decision: Decision) -> EditState:
    """The state after a person's decision. Raises `EditDecided` with the first one unless the edit is open: nobody
    decides twice, and nobody brings back what something newer has taken the place of."""
    if edit.state == "open":
        return "accepted" if decision == "accept" else "rejected"
    raise already(edit)


def reopened(edit: EditData) -> EditState:
    """The state after a decision is taken back. Raises `EditDecided` where something newer took the edit's place."""
    if edit.state == "superseded":
        raise already(edit)
    return "open"


def already(edit: EditData) -> EditDecided:
    """The outcome of an edit that was already decided."""
    how = "open again" if edit.state == "open" else f"already {edit.state}"
    by = f" by {edit.decided_by_name}" if edit.decided_by_name else ""
    return EditDecided(
        f"This edit is {how}{by}.",
        edit_id=edit.id,
        proposal_id=edit.proposal_id,
        state=edit.state,
        decided_by=edit.decided_by,
        decided_by_name=edit.decided_by_name,
        decided_at=edit.decided_at,
        applied_text=edit.applied_text,
        version=edit.version,
        superseded_by=edit.superseded_by,
        reason=edit.reason,
    )


def superseded(edit: EditData) -> EditState:
    """The state after something newer came: an open edit is superseded, what was decided stays as it is."""
    return "superseded" if edit.state == "open" else edit.state


def proposal_state(edits: Iterable[EditState]) -> Literal["open", "closed"]:
    """Open while anything is left to decide."""
    return "open" if "open" in edits else "closed"


def settles_comment(edits: Iterable[EditState]) -> bool:
    """Whether what was asked for is done: nothing is left to decide and something was accepted."""
    states = set(edits)
    return "open" not in states and "accepted" in states

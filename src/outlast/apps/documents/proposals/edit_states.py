"""The life of an edit, and of the proposal that it belongs to. Pure: docs/states.md draws it."""

from collections.abc import Iterable
from typing import Literal

from outlast.apps.documents.proposals.shapes import Decision, EditData, EditState
from outlast.base.errors import EditDecided


def decided(edit: EditData, decision: Decision) -> EditState:
    """The state after a person's decision. Raises `EditDecided` with the first decision where an edit that is not open
    would be accepted or rejected, or where one that something newer replaced would be reopened."""
    if edit.state == "superseded" or (edit.state != "open" and decision != "reopen"):
        raise already(edit)
    after: dict[Decision, EditState] = {"accept": "accepted", "reject": "rejected", "reopen": "open"}
    return after[decision]


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


def proposal_state(edits: Iterable[EditState]) -> Literal["open", "closed"]:
    """Open while anything is left to decide."""
    return "open" if "open" in edits else "closed"


def settles_comment(edits: Iterable[EditState]) -> bool:
    """Whether what was asked for is done: nothing is left to decide and something was accepted."""
    states = set(edits)
    return "open" not in states and "accepted" in states

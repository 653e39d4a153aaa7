"""The states of an edit and of its proposal. Pure: docs/states.md draws them."""

from collections.abc import Iterable
from typing import Literal

from outlast.apps.documents.proposals.shapes import Decision, EditData, EditState
from outlast.base.errors import EditDecided


def decided(edit: EditData, decision: Decision) -> EditState:
    """The state after a person's decision. Raises `EditDecided` with the first decision when accepting or rejecting an
    edit that is not open, or reopening one that was superseded."""
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
    """Open while any edit is open."""
    return "open" if "open" in edits else "closed"


def settles_comment(edits: Iterable[EditState]) -> bool:
    """True if no edit is open and at least one was accepted."""
    states = set(edits)
    return "open" not in states and "accepted" in states

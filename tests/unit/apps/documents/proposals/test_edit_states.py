"""The life of an edit: every state, and what may come next."""

from __future__ import annotations

from typing import get_args

import pytest

from outlast.apps.documents.proposals.edit_states import decided, proposal_state, settles_comment
from outlast.apps.documents.proposals.shapes import Decision, EditData, EditState
from outlast.base.errors import EditDecided

STATES: tuple[EditState, ...] = get_args(EditState)


def edit(state: EditState) -> EditData:
    return EditData(
        id="edt_1",
        proposal_id="prp_1",
        document_id="doc_1",
        ordinal=1,
        op="replace",
        block_id="blk_1",
        section_id="sec_1",
        after_id=None,
        old_text="old",
        new_text="new",
        state=state,
        decided_by="usr_1",
        decided_by_name="Ada",
        version=3,
    )


@pytest.mark.parametrize("decision", get_args(Decision))
@pytest.mark.parametrize("state", STATES)
def test_only_an_open_edit_is_decided_and_one_that_was_decided_reopened(state: EditState, decision: Decision) -> None:
    if state == "open" or (decision == "reopen" and state != "superseded"):
        after = {"accept": "accepted", "reject": "rejected", "reopen": "open"}
        assert decided(edit(state), decision) == after[decision]
        return
    with pytest.raises(EditDecided) as caught:
        decided(edit(state), decision)
    fields = caught.value.fields
    assert (fields["state"], fields["decided_by_name"], fields["version"]) == (state, "Ada", 3)


@pytest.mark.parametrize(
    ("states", "state", "settles"),
    [
        (["open"], "open", False),
        (["accepted", "open"], "open", False),
        (["accepted"], "closed", True),
        (["accepted", "rejected", "superseded"], "closed", True),
        (["rejected"], "closed", False),
        (["superseded"], "closed", False),
    ],
)
def test_a_proposal_is_open_while_anything_is_left_to_decide(
    states: list[EditState], state: str, settles: bool
) -> None:
    assert proposal_state(states) == state
    assert settles_comment(states) is settles

"""Deciding about edits, with texts as people's programs send them, on every database."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from outlast.apps.documents.proposals import actions as review
from outlast.apps.documents.proposals.shapes import NamedDecision
from outlast.apps.documents.shapes import CHANGE_CHARS
from outlast.base.errors import InputTooLarge, OutlastError
from outlast.db.database import Database
from tests.documents import Desk, decision_on, replacing
from tests.factories import make_services


async def test_a_decision_holds_only_texts_that_every_database_can_hold(db: Database, tmp_path: Path) -> None:
    desk, services = await Desk.open(db), make_services(db, tmp_path)
    block = await desk.block(0)
    made = await desk.propose(replacing(block, "The plan."))
    verdict = decision_on(made.edits[0].id, "accept", "Our\x00 plan.", old=f"\x00{block.markdown}")
    decided = await review.decide_edit(services, desk.team.owner, verdict, key="k")
    assert decided.edits[0].applied_text == "Our plan."
    assert (await desk.block(0)).markdown == "Our plan."


@pytest.mark.parametrize("field", ["text", "old"])
async def test_a_decision_is_no_place_for_a_book(db: Database, tmp_path: Path, field: Literal["text", "old"]) -> None:
    desk, services = await Desk.open(db), make_services(db, tmp_path)
    made = await desk.propose(replacing(await desk.block(0), "The plan."))
    edit_id = made.edits[0].id

    def saying(text: str) -> NamedDecision:
        if field == "text":
            return decision_on(edit_id, "accept", text)
        return decision_on(edit_id, "accept", "Fine.", old=text)

    with pytest.raises(InputTooLarge, match="at most 200,000"):
        await review.decide_edit(services, desk.team.owner, saying("x" * (CHANGE_CHARS + 1)))
    with pytest.raises(OutlastError) as refused:  # the block's own bound, or that it says something else
        await review.decide_edit(services, desk.team.owner, saying("x" * CHANGE_CHARS))
    assert "in a change" not in str(refused.value)

"""Several people who decide at the very same moment, on both databases."""

from __future__ import annotations

from typing import Any

import anyio

from outlast.apps.documents.proposals import review as reviewing
from outlast.apps.documents.proposals.shapes import DecidedAnswer, ProposalData
from outlast.base.errors import EditDecided, OutlastError
from outlast.db.database import Database
from outlast.kernel.accounts.actor import Actor
from tests.documents import SETTINGS, Desk, decision_on, inserting, replacing


async def together(*calls: tuple[Desk, ProposalData, int, Actor]) -> list[DecidedAnswer | OutlastError]:
    """What each of these acceptances came to."""
    answers: list[Any] = [None] * len(calls)

    async def accept(place: int, desk: Desk, proposal: ProposalData, ordinal: int, by: Actor) -> None:
        verdict = decision_on(proposal.edits[ordinal - 1].id, "accept")
        try:
            answers[place] = await desk.db.write(reviewing.decide, proposal.id, [verdict], by.user_id, SETTINGS)
        except OutlastError as refused:
            answers[place] = refused

    async with anyio.create_task_group() as group:
        for place, call in enumerate(calls):
            group.start_soon(accept, place, *call)
    return answers


async def test_of_two_who_accept_an_edit_at_once_one_makes_the_version(db: Database) -> None:
    desk = await Desk.open(db)
    proposal = await desk.propose(replacing(await desk.block(0), "The plan."))
    people = [desk.team.owner, desk.team.editor] * 4
    answers = await together(*[(desk, proposal, 1, actor) for actor in people])
    (made,) = [answer for answer in answers if isinstance(answer, DecidedAnswer)]
    others = [answer for answer in answers if isinstance(answer, EditDecided)]
    assert (made.version, len(others)) == (2, len(people) - 1)
    assert {other.fields["decided_by"] for other in others} == {made.edits[0].decided_by}
    assert (await desk.tree()).version == 2


async def test_all_who_accept_different_edits_at_once_make_a_version_each(db: Database) -> None:
    desk = await Desk.open(db)
    blocks = [await desk.block(number) for number in range(3)]
    proposal = await desk.propose(*[replacing(one, f"Text {at}.") for at, one in enumerate(blocks)])
    other = await desk.propose(*[inserting(one, f"More {at}.") for at, one in enumerate(blocks)])
    people = [desk.team.owner, desk.team.editor]
    calls = [(desk, one, at, people[at % 2]) for one in (proposal, other) for at in (1, 2, 3)]
    answers = await together(*calls)
    versions = [answer.version for answer in answers if isinstance(answer, DecidedAnswer)]
    assert sorted(version or 0 for version in versions) == [2, 3, 4, 5, 6, 7]
    assert await desk.texts() == ["Text 0.", "More 0.", "Text 1.", "More 1.", "Text 2.", "More 2."]

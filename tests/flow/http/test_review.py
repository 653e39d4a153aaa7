"""Reviewing what an agent proposes, over HTTP."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest

from outlast.apps.documents.proposals import actions
from outlast.apps.documents.proposals.validation import NewEdit
from outlast.base.errors import RateLimited
from tests.asgi import Browser
from tests.document_changes import edit_block
from tests.documents import Desk, deleting, inserting, replacing
from tests.factories import make_thread
from tests.flow.http.conftest import Site


@dataclass
class Review:
    """Two editors in their browsers, and a document whose agent proposed something."""

    desk: Desk
    olga: Browser
    emil: Browser
    proposal_id: str
    edits: list[str]


async def begin(site: Site, *edits: NewEdit) -> Review:
    desk = await Desk.open(site.services.db)
    chosen = edits or (
        replacing(await desk.block(0), "The plan is short and nobody reads it."),
        replacing(await desk.block(1), "It has the facts."),
    )
    made = await desk.propose(*chosen)
    olga, emil = [await site.signed_in(one) for one in (desk.team.owner, desk.team.editor)]
    return Review(desk, olga, emil, made.id, [edit.id for edit in made.edits])


async def test_a_person_reads_the_merge_and_accepts(site: Site) -> None:
    review = await begin(site)
    block = await review.desk.block(0)
    await review.desk.edit(block, "The plan is long and everybody reads it.")
    merged = (await review.olga.get(f"/v1/edits/{review.edits[0]}/merge")).json()
    assert merged["text"] == "The plan is short and everybody reads it."
    assert "".join(hunk["current"] for hunk in merged["hunks"]) == merged["current"]
    answer = await review.olga.post(f"/v1/edits/{review.edits[0]}", {"decision": "accept"})
    assert answer.status == 200
    assert answer.json()["version"] == 3
    assert answer.json()["edits"][0]["applied_text"] == merged["text"]
    shown = (await review.emil.get(f"/v1/proposals/{review.proposal_id}")).json()
    assert [edit["state"] for edit in shown["edits"]] == ["accepted", "open"]
    assert shown["edits"][0]["decided_by_name"] == "Olga"


async def test_a_conflict_is_answered_with_both_texts_and_settled_by_the_person(site: Site) -> None:
    review = await begin(site)
    block = await review.desk.block(0)
    await review.desk.edit(block, "The plan is tiny and nobody reads it.")
    merged = (await review.olga.get(f"/v1/edits/{review.edits[0]}/merge")).json()
    assert merged["text"] is None
    every = [{"edit_id": one, "decision": "accept"} for one in review.edits]
    refused = await review.olga.post(f"/v1/proposals/{review.proposal_id}/decide", {"decisions": every})
    assert (refused.status, refused.code) == (409, "text_changed")
    fields = refused.json()["fields"]
    assert fields["conflicts"][0]["edit_id"] == review.edits[0]
    assert [hunk["wanted"] for hunk in fields["hunks"] if hunk["kind"] == "conflict"] == ["short"]
    decisions = [
        {
            "edit_id": review.edits[0],
            "decision": "accept",
            "text": "The plan is tiny, short and nobody reads it.",
            "old": fields["current"],
        },
        {"edit_id": review.edits[1], "decision": "reject"},
    ]
    answer = await review.olga.post(f"/v1/proposals/{review.proposal_id}/decide", {"decisions": decisions})
    assert [edit["state"] for edit in answer.json()["edits"]] == ["accepted", "rejected"]
    assert (await review.desk.block(0)).markdown == "The plan is tiny, short and nobody reads it."


async def test_all_are_accepted_but_the_one_in_conflict_and_a_decision_is_taken_back(site: Site) -> None:
    review = await begin(site)
    await review.desk.edit(await review.desk.block(0), "The plan is tiny and nobody reads it.")
    taken = (await review.olga.post(f"/v1/proposals/{review.proposal_id}/accept")).json()
    assert [edit["state"] for edit in taken["edits"]] == ["open", "accepted"]
    assert [(one["edit_id"], one["code"]) for one in taken["left"]] == [(review.edits[0], "text_changed")]
    assert taken["version"] == 3
    seen = {"decision": "reopen", "decided_at": taken["edits"][1]["decided_at"]}
    reopened = (await review.olga.post(f"/v1/edits/{review.edits[1]}", seen)).json()
    assert (reopened["version"], reopened["edits"][0]["state"]) == (4, "open")
    mixed = [{"edit_id": review.edits[0], "decision": "reject"}, {"edit_id": review.edits[1], "decision": "reopen"}]
    refused = await review.olga.post(f"/v1/proposals/{review.proposal_id}/decide", {"decisions": mixed})
    assert refused.status == 400
    assert (await review.olga.post(f"/v1/edits/{review.edits[0]}", {"decision": "reject"})).status == 200
    again = [{"edit_id": review.edits[0], "decision": "reopen"}]
    both = await review.olga.post(f"/v1/proposals/{review.proposal_id}/decide", {"decisions": again})
    assert (both.json()["version"], both.json()["edits"][0]["state"]) == (None, "open")


async def test_a_persons_own_texts_have_a_bound_together(site: Site) -> None:
    review = await begin(site)
    decisions = [{"edit_id": one, "decision": "accept", "text": "x" * 110_000} for one in review.edits[:2]]
    refused = await review.olga.post(f"/v1/proposals/{review.proposal_id}/decide", {"decisions": decisions})
    assert (refused.status, refused.code) == (413, "input_too_large")
    assert refused.json()["fields"]["limit_chars"] == 200_000
    shown = (await review.olga.get(f"/v1/proposals/{review.proposal_id}")).json()
    assert {edit["state"] for edit in shown["edits"]} == {"open"}


async def test_the_second_to_decide_is_told_who_was_first(site: Site) -> None:
    review = await begin(site)
    await review.emil.post(f"/v1/edits/{review.edits[0]}", {"decision": "accept", "text": "Our plan."})
    refused = await review.olga.post(f"/v1/edits/{review.edits[0]}", {"decision": "reject"})
    assert (refused.status, refused.code) == (409, "edit_decided")
    assert refused.json()["fields"]["decided_by_name"] == "Emil"
    assert refused.json()["fields"]["applied_text"] == "Our plan."


async def test_a_repeated_request_gets_the_first_answer(site: Site) -> None:
    review = await begin(site)
    path, body = f"/v1/edits/{review.edits[0]}", {"decision": "accept"}
    first = await review.olga.post(path, body, **{"idempotency-key": "k1"})
    again = await review.olga.post(path, body, **{"idempotency-key": "k1"})
    assert first.json() == again.json()
    other = await review.olga.post(path, {"decision": "reject"}, **{"idempotency-key": "k1"})
    assert other.code == "idempotency_mismatch"


@pytest.mark.parametrize(("verb", "state"), [("accept", "accepted"), ("reject", "rejected")])
async def test_everything_is_decided_at_once_and_again_without_harm(site: Site, verb: str, state: str) -> None:
    review = await begin(site)
    path = f"/v1/proposals/{review.proposal_id}/{verb}"
    answer = await review.olga.post(path)
    assert answer.json()["version"] == (2 if verb == "accept" else None)
    again = await review.emil.post(path)
    assert (again.status, again.json()["version"]) == (200, None)
    assert [edit["state"] for edit in again.json()["edits"]] == [state, state]


async def test_proposals_are_listed_by_document_and_thread(site: Site) -> None:
    review = await begin(site)
    desk = review.desk
    newer = await desk.propose(deleting(await desk.block(2)))
    await desk.reject(newer, 1)

    async def ids(path: str) -> list[str]:
        return [item["id"] for item in (await review.olga.get(path)).json()["items"]]

    document, thread = f"/v1/documents/{desk.document_id}", f"/v1/threads/{desk.thread_id}"
    assert await ids(f"{document}/proposals") == [review.proposal_id]
    assert await ids(f"{document}/proposals?state=closed") == [newer.id]
    assert await ids(f"{document}/proposals?state=all") == [newer.id, review.proposal_id]
    assert await ids(f"{thread}/proposals") == [newer.id, review.proposal_id]
    first = (await review.olga.get(f"{thread}/proposals?limit=1")).json()
    assert await ids(f"{thread}/proposals?limit=1&before={first['next']}") == [review.proposal_id]


async def test_a_new_text_and_a_deleted_block_are_shown_as_merges_too(site: Site) -> None:
    review = await begin(site)
    made = await review.desk.propose(
        inserting(await review.desk.block(0), "More."), deleting(await review.desk.block(2))
    )
    shown: list[Any] = [(await review.olga.get(f"/v1/edits/{edit.id}/merge")).json() for edit in made.edits]
    assert [one["text"] for one in shown] == ["More.", ""]
    ending = await review.desk.block(2)
    await review.desk.write(edit_block(ending.id, "It ends there.", ending.markdown))
    assert (await review.olga.get(f"/v1/edits/{made.edits[1].id}/merge")).json()["text"] is None


@pytest.mark.parametrize("body", [{"decision": "maybe"}, {"decision": "accept", "colour": "red"}, {}])
async def test_a_decision_that_is_none_is_refused(site: Site, body: dict[str, str]) -> None:
    review = await begin(site)
    answer = await review.olga.post(f"/v1/edits/{review.edits[0]}", body)
    assert answer.status == 400


async def test_nobody_decides_more_often_than_a_person_can(site: Site) -> None:
    settings = site.services.settings
    fewer = replace(settings, limits=replace(settings.limits, decisions_per_minute_per_user=1))
    services = replace(site.services, settings=fewer)
    review = await begin(site)
    olga, emil = review.desk.team.owner, review.desk.team.editor
    await actions.decide_all(services, olga, review.proposal_id, "reject")  # two edits, and one decision
    other = await review.desk.propose(replacing(await review.desk.block(0), "The plan."))
    with pytest.raises(RateLimited):
        await actions.decide_all(services, olga, other.id, "accept")
    assert (await actions.decide_all(services, emil, other.id, "accept")).version == 2


async def test_what_a_deleted_conversation_proposed_is_gone_from_the_document(site: Site) -> None:
    review = await begin(site)
    desk = review.desk
    anchor = {"type": "section", "id": (await desk.section("Risks")).id, "document_id": desk.document_id}
    of_risks = {"profile": "document", "anchor": anchor}
    thread_id = await desk.db.write(lambda tx: make_thread(tx, desk.team.project_id, desk.team.owner, **of_risks))
    other = await desk.propose(replacing(await desk.block(2), "The end."), thread_id=thread_id)
    document = f"/v1/documents/{desk.document_id}/proposals"
    assert len((await review.olga.get(document)).json()["items"]) == 2
    assert (await review.olga.call("DELETE", f"/v1/threads/{thread_id}")).status == 204
    assert (await review.olga.get(f"/v1/proposals/{other.id}")).status == 404
    assert [one["id"] for one in (await review.olga.get(document)).json()["items"]] == [review.proposal_id]

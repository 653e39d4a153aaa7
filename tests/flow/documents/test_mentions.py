"""Naming people and the agent, and what the inboxes show and hear of it."""

from __future__ import annotations

from typing import Any

from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.mentions import store as mentions
from tests.document_changes import delete_section
from tests.factories import join, make_user
from tests.flow.documents.talk import *  # noqa: F403  # fixtures
from tests.flow.documents.talk import Talk


async def heard(talk: Talk) -> list[tuple[Any, str, bool]]:
    """What came (True) and went in inboxes: whose, of which kind."""
    return [
        (event["data"]["user_id"], event["data"]["kind"], event["data"]["item"] is not None)
        for event in await talk.news("inbox.changed")
    ]


async def test_whoever_is_named_in_a_comment_finds_it_in_the_inbox(talk: Talk) -> None:
    made = await talk.comment("emil", "@Cora and @vera, what about `@Olga`? And me, @Emil?", block_id=talk.blocks[0])
    cora, vera = talk.cora.user_id, talk.team.viewer.user_id
    assert set(made["mentions"]) == {cora, vera, talk.team.editor.user_id}
    (item,) = await talk.inbox("cora")
    assert (item["kind"], item["comment_id"], item["block_id"]) == ("mention", made["id"], talk.blocks[0])
    assert item["by_name"] == "Emil"
    assert [one["comment_id"] for one in await talk.inbox("vera")] == [made["id"]]  # viewers read
    assert (await talk.inbox("olga"), await talk.inbox("emil")) == ([], [])
    assert sorted(await heard(talk)) == sorted([(cora, "mention", True), (vera, "mention", True)])
    told = (await talk.news("inbox.changed"))[0]["data"]["item"]
    assert (told["text"], told["document_id"]) == (item["text"], talk.document_id)


async def test_members_that_were_picked_are_named_even_if_the_text_does_not_show_it(talk: Talk) -> None:
    stranger = talk.team.stranger.user_id
    made = await talk.comment("emil", "Look.", mentions=[talk.cora.user_id, stranger])
    assert made["mentions"] == [talk.cora.user_id]
    assert len(await talk.inbox("cora")) == 1


async def test_a_mention_is_read_by_opening_the_comment_or_by_hand(talk: Talk) -> None:
    first = await talk.comment("emil", "@Cora one")
    await talk.comment("emil", "@Cora two", parent_id=first["id"])
    third = await talk.comment("emil", "@Cora three")
    assert len(await talk.inbox("cora")) == 3
    await talk.get("cora", f"/comments/{first['id']}")
    (left,) = await talk.inbox("cora")
    assert left["comment_id"] == third["id"]
    path = f"/mentions/{left['id']}/read"
    assert (await talk.call("olga", "POST", path)).code == "not_found"
    assert (await talk.call("cora", "POST", path)).status == 204
    assert (await talk.call("cora", "POST", path)).status == 204
    assert await talk.inbox("cora") == []
    went = (talk.cora.user_id, "mention", False)
    assert (await heard(talk))[3:] == [went, went]  # told once for each, and not for the repetition


async def test_editing_a_comment_keeps_whom_its_writer_picked(talk: Talk) -> None:
    def twin(tx: Tx) -> Actor:
        other = make_user(tx, "Cora")
        join(tx, talk.team.project_id, other, "viewer")
        return other

    other = await talk.services.db.write(twin)
    picked = [talk.cora.user_id, talk.team.owner.user_id]
    made = await talk.comment("emil", "@Cora?", mentions=picked)
    path = f"/comments/{made['id']}"
    changed = (await talk.call("emil", "PATCH", path, {"body": "@Cora, please?"})).json()
    assert changed["mentions"] == picked  # not the other Cora, and Olga without her name
    changed = (await talk.call("emil", "PATCH", path, {"body": "Please?"})).json()
    assert changed["mentions"] == [talk.team.owner.user_id]
    assert await talk.services.db.read(mentions.waiting, other.user_id, None) == []


async def test_editing_a_comment_names_others_and_takes_back_whom_it_does_not(talk: Talk) -> None:
    made = await talk.comment("emil", "@Cora?")
    await talk.call("emil", "PATCH", f"/comments/{made['id']}", {"body": "@Olga!"})
    assert await talk.inbox("cora") == []
    assert [item["text"] for item in await talk.inbox("olga")] == ["@Olga!"]
    await talk.call("emil", "PATCH", f"/comments/{made['id']}", {"body": "@Olga, please!"})
    assert len(await talk.inbox("olga")) == 1
    await talk.call("emil", "DELETE", f"/comments/{made['id']}")
    assert await talk.inbox("olga") == []


async def test_whoever_is_named_in_a_message_finds_it_until_they_open_the_thread(talk: Talk) -> None:
    path = f"/threads/{talk.thread_id}/messages"
    posted = (await talk.call("emil", "POST", path, {"content": "@cora, have a look"})).json()
    assert posted["started_run_id"] is None
    (item,) = await talk.inbox("cora")
    assert (item["kind"], item["message_id"], item["thread_id"]) == ("mention", posted["id"], talk.thread_id)
    assert (item["thread_title"], item["comment_id"]) == ("Rice", None)
    await talk.get("olga", f"/threads/{talk.thread_id}")
    assert len(await talk.inbox("cora")) == 1
    await talk.get("cora", f"/threads/{talk.thread_id}")
    assert await talk.inbox("cora") == []


async def test_naming_the_agent_in_a_message_starts_a_run_with_the_rights_that_takes(talk: Talk) -> None:
    path = f"/threads/{talk.thread_id}/messages"
    posted = (await talk.call("emil", "POST", path, {"content": "@agent and @Cora: shorten it"})).json()
    thread = await talk.get("vera", f"/threads/{talk.thread_id}")
    assert thread["active_run_id"] == posted["started_run_id"] is not None
    assert thread["lock"]["holder_name"] == "Emil"
    assert [item["message_id"] for item in await talk.inbox("cora")] == [posted["id"]]
    refused = await talk.call("cora", "POST", path, {"content": "@agent no"})
    assert refused.code == "thread_locked"
    allowed = await talk.call("cora", "POST", path, {"content": "Let me see first."})
    assert (allowed.status, allowed.json()["started_run_id"]) == (201, None)


async def test_a_start_names_people_too(talk: Talk) -> None:
    body = {"content": "@Cora, I ask the agent to shorten it", "mentions": [talk.team.owner.user_id]}
    started = await talk.call("emil", "POST", f"/threads/{talk.thread_id}/runs", body)
    assert started.status == 202
    assert [len(await talk.inbox(who)) for who in ("cora", "olga", "emil")] == [1, 1, 0]


# The same words were posted into the conversation too, and named everybody a second time.
async def test_a_comment_that_is_given_to_the_agent_names_people_once(talk: Talk) -> None:
    made = await talk.comment("emil", "@Cora please look")
    given = await talk.call("emil", "POST", f"/comments/{made['id']}/assign", {"to": "agent"})
    assert given.json()["run_id"] is not None
    assert [item["comment_id"] for item in await talk.inbox("cora")] == [made["id"]]


async def test_an_answer_that_asks_the_agent_names_people_once(talk: Talk) -> None:
    made = await talk.comment("emil", "Look.")
    answer = await talk.comment("emil", "@agent shorten it. @Cora please look", parent_id=made["id"])
    assert [item["comment_id"] for item in await talk.inbox("cora")] == [answer["id"]]


async def test_a_request_to_hand_over_waits_until_it_is_answered(talk: Talk) -> None:
    path = f"/threads/{talk.thread_id}/lock"
    await talk.call("emil", "PUT", path)
    await talk.call("cora", "POST", f"{path}/request")
    (item,) = await talk.inbox("emil")
    assert (item["kind"], item["by_name"], item["document_id"]) == ("handover", "Cora", talk.document_id)
    await talk.call("emil", "POST", f"{path}/handover", {"user_id": talk.cora.user_id})
    assert await talk.inbox("emil") == []
    emil = talk.team.editor.user_id
    assert await heard(talk) == [(emil, "handover", True), (emil, "handover", False)]
    await talk.call("cora", "DELETE", path)
    assert len(await heard(talk)) == 2  # nobody had asked


async def test_so_does_one_for_a_section(talk: Talk) -> None:
    path = f"/sections/{talk.sections[0]}/lock"
    assert (await talk.call("emil", "PUT", path, {})).status == 200
    assert (await talk.call("cora", "POST", f"{path}/request")).status == 200
    (item,) = await talk.inbox("emil")
    assert (item["kind"], item["section_id"], item["document_id"]) == ("handover", talk.sections[0], talk.document_id)
    assert item["text"] == "Cora would like to edit the section “Introduction”."
    assert (await talk.call("emil", "DELETE", path)).status == 204
    emil = talk.team.editor.user_id
    assert await heard(talk) == [(emil, "handover", True), (emil, "handover", False)]


async def test_whoever_leaves_the_project_has_nothing_of_it_in_the_inbox(talk: Talk) -> None:
    await talk.comment("emil", "@Cora!")
    gone = await talk.call("olga", "DELETE", f"/projects/{talk.team.project_id}/members/{talk.cora.user_id}")
    assert gone.status == 204
    assert await talk.get("cora", "/inbox") == {"items": [], "next": None}


async def test_what_is_deleted_is_taken_from_inboxes_and_they_are_told(talk: Talk) -> None:
    """A section that somebody was asked for, a thread that somebody was asked for, a document with mentions."""
    emil = talk.team.editor.user_id
    path = f"/sections/{talk.sections[1]}/lock"
    await talk.call("emil", "PUT", path, {})
    await talk.call("cora", "POST", f"{path}/request")
    await talk.write(delete_section(talk.sections[1]))
    made = await talk.comment("emil", "@agent shorten it")
    await talk.call("emil", "POST", f"/runs/{await run_of(talk, made['thread_id'])}/cancel")
    await talk.call("cora", "POST", f"/threads/{made['thread_id']}/lock/request")
    assert [item["kind"] for item in await talk.inbox("emil")] == ["handover"]
    assert (await talk.call("olga", "DELETE", f"/threads/{made['thread_id']}")).status == 204
    await talk.comment("emil", "@Cora!")
    assert (await talk.call("olga", "DELETE", f"/documents/{talk.document_id}")).status == 204
    assert [await talk.inbox(who) for who in ("emil", "cora")] == [[], []]
    asked, unasked = (emil, "handover", True), (emil, "handover", False)
    named, forgotten = (talk.cora.user_id, "mention", True), (talk.cora.user_id, "mention", False)
    assert await heard(talk) == [asked, unasked, asked, unasked, named, forgotten]


async def run_of(talk: Talk, thread_id: str) -> str:
    return str((await talk.get("emil", f"/threads/{thread_id}"))["active_run_id"])

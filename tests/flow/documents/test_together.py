"""What arrives in somebody's project stream of what the others do."""

from __future__ import annotations

from tests.flow.documents.talk import *  # noqa: F403  # fixtures
from tests.flow.documents.talk import Talk


async def test_comments_and_the_news_of_the_inbox_arrive_at_the_others(talk: Talk) -> None:
    async with talk.following(talk.cora) as stream:
        made = await talk.comment("emil", "@Cora, is it true?", block_id=talk.blocks[0])
        assert (await stream.next("comment.created"))["data"]["comment"] == made
        news = (await stream.next("inbox.changed"))["data"]
        (item,) = await talk.inbox("cora")
        assert (news["user_id"], news["kind"], news["item"]) == (talk.cora.user_id, "mention", item)
        await talk.get("cora", f"/comments/{made['id']}")
        assert (await stream.next("inbox.changed"))["data"]["item"] is None
        await talk.call("emil", "POST", f"/comments/{made['id']}/assign", {"to": "agent"})
        thread = (await stream.next("thread.updated"))["data"]["thread"]
        changed = (await stream.next("comment.updated"))["data"]["comment"]
        assert (changed["assigned_to"], changed["thread_id"]) == ("agent", thread["id"])
        await talk.call("emil", "DELETE", f"/comments/{made['id']}")
        assert (await stream.next("comment.deleted"))["data"]["comment_id"] == made["id"]


async def test_the_others_see_where_somebody_is_in_the_document_and_that_they_type(talk: Talk) -> None:
    emil, path = talk.team.editor.user_id, f"/documents/{talk.document_id}/presence"
    async with talk.following(talk.team.viewer) as stream, talk.following(talk.team.editor):
        at = await talk.call("emil", "PUT", path, {"block_id": talk.blocks[1], "typing": True})
        assert at.status == 204
        shown = (await stream.next("presence"))["data"]
        while not shown["document_id"]:
            shown = (await stream.next("presence"))["data"]  # who has the project open
        assert (shown["document_id"], shown["project_id"]) == (talk.document_id, talk.team.project_id)
        assert (shown["places"], shown["typing"]) == ({emil: talk.blocks[1]}, [emil])
        assert [one["name"] for one in shown["watching"]] == ["Emil"]
        read = await talk.get("olga", path)
        assert (read["places"], read["typing"]) == (shown["places"], [emil])
        await talk.call("emil", "PUT", path, {"block_id": None, "typing": False})
        shown = (await stream.next("presence"))["data"]
        assert (shown["places"], shown["typing"], len(shown["watching"])) == ({}, [], 1)
        assert (await talk.call("emil", "DELETE", path)).status == 204
        assert (await stream.next("presence"))["data"]["watching"] == []


async def test_a_viewer_is_shown_as_reading_but_does_not_type(talk: Talk) -> None:
    path = f"/documents/{talk.document_id}/presence"
    async with talk.following(talk.team.viewer):
        await talk.call("vera", "PUT", path, {"block_id": talk.blocks[0], "typing": True})
        shown = await talk.get("emil", path)
        assert ([one["name"] for one in shown["watching"]], shown["typing"]) == (["Vera"], [])
    assert (await talk.call("sten", "PUT", path, {"block_id": None})).code == "not_found"


async def test_only_what_can_be_a_block_is_shown_as_somebodys_place(talk: Talk) -> None:
    path = f"/documents/{talk.document_id}/presence"
    async with talk.following(talk.team.editor):
        for block_id in ("Look here!", "blk_", "blk_A", "sec_1", "blk_1\n", "blk_" + "1" * 37, "blk_1\x00"):
            refused = await talk.call("emil", "PUT", path, {"block_id": block_id})
            assert refused.status == 400, block_id
            assert b"block_id" in refused.body
        assert (await talk.get("emil", path))["watching"] == []
        assert (await talk.call("emil", "PUT", path, {"block_id": talk.blocks[0]})).status == 204


async def test_whoever_follows_later_is_told_who_is_in_which_document(talk: Talk) -> None:
    path = f"/documents/{talk.document_id}/presence"
    async with talk.following(talk.team.editor):
        await talk.call("emil", "PUT", path, {"block_id": talk.blocks[0]})
        async with talk.following(talk.cora) as stream:
            frames = [(await stream.next("presence"))["data"] for _ in range(2)]
            assert {frame["document_id"] for frame in frames} == {"", talk.document_id}

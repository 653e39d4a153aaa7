"""Comments over HTTP, as several people write and read them."""

from __future__ import annotations

from tests.document_changes import delete_block, delete_section, edit_block, insert_block, move_block
from tests.flow.documents.talk import *  # noqa: F403  # fixtures
from tests.flow.documents.talk import Talk

QUOTE = {"text": "new way", "prefix": "We propose a ", "suffix": " to cook"}


async def test_a_comment_is_on_the_document_a_section_a_block_or_a_quote(talk: Talk) -> None:
    section, block = talk.sections[0], talk.blocks[0]
    whole = await talk.comment("emil", "Good so far.")
    of_section = await talk.comment("emil", "Too short?", section_id=section)
    of_block = await talk.comment("emil", "Cite this.", block_id=block)
    of_quote = await talk.comment("emil", "Which way?", block_id=block, quote=QUOTE)
    places = [(one["section_id"], one["block_id"], one["quote"]) for one in (whole, of_section, of_block)]
    assert places == [(None, None, None), (section, None, None), (section, block, None)]
    assert of_quote["quote"]["text"] == "new way"
    assert not any(one["orphaned"] for one in (whole, of_section, of_block, of_quote))
    listed = await talk.get("vera", f"/documents/{talk.document_id}/comments")
    assert [one["body"] for one in listed["items"]] == ["Good so far.", "Too short?", "Cite this.", "Which way?"]
    assert [one["by_name"] for one in listed["items"]] == ["Emil"] * 4
    assert await talk.get("vera", f"/comments/{of_quote['id']}") == of_quote


async def test_answers_stand_below_the_comment_and_have_its_status(talk: Talk) -> None:
    first = await talk.comment("emil", "Is it true?")
    answer = await talk.comment("olga", "It is.", parent_id=first["id"])
    deeper = await talk.comment("cora", "Thanks.", parent_id=answer["id"])
    assert (answer["parent_id"], deeper["parent_id"]) == (first["id"], first["id"])
    await talk.comment("cora", "Something else.")
    resolved = await talk.call("cora", "PATCH", f"/comments/{first['id']}", {"status": "resolved"})
    assert (resolved.json()["status"], resolved.json()["resolved_by_name"]) == ("resolved", "Cora")
    path = f"/documents/{talk.document_id}/comments?status="
    bodies = {
        status: [one["body"] for one in (await talk.get("vera", path + status))["items"]]
        for status in ("open", "resolved", "all")
    }
    assert bodies["resolved"] == ["Is it true?", "It is.", "Thanks."]
    assert bodies["open"] == ["Something else."]
    assert len(bodies["all"]) == 4
    reopened = await talk.call("olga", "PATCH", f"/comments/{first['id']}", {"status": "open"})
    assert (reopened.json()["status"], reopened.json()["resolved_by"]) == ("open", None)
    refused = await talk.call("olga", "PATCH", f"/comments/{answer['id']}", {"status": "resolved"})
    assert (refused.status, refused.code) == (400, "malformed_input")


async def test_words_are_their_writers_and_owners_delete_what_anybody_wrote(talk: Talk) -> None:
    made = await talk.comment("emil", "Frist!")
    path = f"/comments/{made['id']}"
    assert (await talk.call("cora", "PATCH", path, {"body": "Second!"})).code == "forbidden"
    assert (await talk.call("olga", "PATCH", path, {"body": "Second!"})).code == "forbidden"
    assert (await talk.call("emil", "PATCH", path, {"body": "First!"})).json()["body"] == "First!"
    assert (await talk.call("vera", "PATCH", path, {"status": "resolved"})).code == "forbidden"
    assert (await talk.call("sten", "GET", path)).code == "not_found"
    assert (await talk.call("cora", "DELETE", path)).code == "forbidden"
    answer = await talk.comment("cora", "Really?", parent_id=made["id"])
    assert (await talk.call("olga", "DELETE", path)).status == 204
    assert (await talk.call("emil", "GET", f"/comments/{answer['id']}")).code == "not_found"
    own = await talk.comment("cora", "Mine.")
    assert (await talk.call("cora", "DELETE", f"/comments/{own['id']}")).status == 204
    gone = [event["data"]["comment_id"] for event in await talk.news("comment.deleted")]
    assert gone == [made["id"], own["id"]]


async def test_a_comment_that_says_nothing_or_is_nowhere_is_refused(talk: Talk) -> None:
    path = f"/documents/{talk.document_id}/comments"
    for body, status, code in [
        ({"body": " \n"}, 400, "malformed_input"),
        ({"body": "x" * 10_001}, 413, "input_too_large"),
        ({"body": "x", "section_id": "sec_none"}, 404, "not_found"),
        ({"body": "x", "block_id": "blk_none"}, 404, "not_found"),
        ({"body": "x", "linked_sections": ["sec_none"]}, 404, "not_found"),
        ({"body": "x", "quote": QUOTE}, 400, "malformed_input"),
        ({"body": "x", "block_id": talk.blocks[0], "quote": {"text": " "}}, 400, "malformed_input"),
        ({"body": "x", "parent_id": "cmt_none"}, 404, "not_found"),
        ({"body": "x", "section_id": talk.sections[0], "surplus": 1}, 400, "malformed_input"),
    ]:
        answer = await talk.call("emil", "POST", path, body)
        assert (answer.status, answer.code) == (status, code), body
    assert (await talk.call("vera", "POST", path, {"body": "x"})).code == "forbidden"
    assert await talk.news("comment.created") == []


async def test_a_repeated_key_writes_one_comment(talk: Talk) -> None:
    path, body = f"/documents/{talk.document_id}/comments", {"body": "Once."}
    first = await talk.call("emil", "POST", path, body, Idempotency_Key="k1")
    again = await talk.call("emil", "POST", path, body, Idempotency_Key="k1")
    assert first.json() == again.json()
    other = await talk.call("emil", "POST", path, {"body": "Twice."}, Idempotency_Key="k1")
    assert other.code == "idempotency_mismatch"
    assert len((await talk.get("emil", path))["items"]) == 1


async def test_a_quote_follows_its_text_through_edits_and_moves(talk: Talk) -> None:
    block = talk.blocks[0]
    made = await talk.comment("emil", "Which way?", block_id=block, quote=QUOTE)
    text = "Today **we propose** a *new way* to cook any rice."
    await talk.write(edit_block(block, text, "We propose a new way to cook rice."))
    at = await talk.get("vera", f"/comments/{made['id']}")
    assert (at["block_id"], at["quote"]["text"], at["orphaned"]) == (block, "new way", False)
    await talk.write(move_block(block, talk.sections[1], None))
    at = await talk.get("vera", f"/comments/{made['id']}")
    assert (at["section_id"], at["block_id"]) == (talk.sections[1], block)
    await talk.write(edit_block(block, "Rice is old.\n\nWe propose a new way to cook it.", text))
    at = await talk.get("vera", f"/comments/{made['id']}")
    assert (at["block_id"] == block, at["quote"]["text"], at["orphaned"]) == (False, "new way", False)
    told = [event["data"]["comment"]["block_id"] for event in await talk.news("comment.updated")]
    assert told == [block, at["block_id"]]  # of the move, and of the split; the first edit showed nobody anything new


async def test_comments_outlive_their_place_and_find_it_again(talk: Talk) -> None:
    block, section = talk.blocks[2], talk.sections[1]
    quoted = await talk.comment(
        "emil", "Why first?", block_id=block, quote={"text": "first", "prefix": "rice ", "suffix": "."}
    )
    on_block = await talk.comment("emil", "How long?", block_id=block)
    on_section = await talk.comment("emil", "More, please.", section_id=section)
    await talk.write(delete_block(block, "Wash the rice first."))
    at = await talk.get("vera", f"/comments/{quoted['id']}")
    assert (at["section_id"], at["block_id"], at["orphaned"]) == (section, None, True)
    await talk.write(delete_section(section))
    for one in (quoted, on_block, on_section):
        at = await talk.get("vera", f"/comments/{one['id']}")
        assert (at["section_id"], at["block_id"], at["orphaned"]) == (None, None, True)
    await talk.write(insert_block(talk.sections[0], None, "Wash the rice first."))
    at = await talk.get("vera", f"/comments/{quoted['id']}")
    assert (at["section_id"], at["orphaned"], at["quote"]["text"]) == (talk.sections[0], False, "first")


async def test_linked_sections_can_be_changed_by_any_editor(talk: Talk) -> None:
    made = await talk.comment("emil", "Both repeat.", linked_sections=[talk.sections[0], talk.sections[0]])
    assert made["linked_sections"] == [talk.sections[0]]
    changed = await talk.call("cora", "PATCH", f"/comments/{made['id']}", {"linked_sections": talk.sections})
    assert changed.json()["linked_sections"] == talk.sections


async def test_others_hear_of_comments_in_the_projects_stream(talk: Talk) -> None:
    made = await talk.comment("emil", "Look here.")
    await talk.call("cora", "PATCH", f"/comments/{made['id']}", {"status": "resolved"})
    told = await talk.news("comment.created", "comment.updated", "document.updated")
    assert [(event["event"], event["data"].get("by")) for event in told][-4:] == [
        ("comment.created", talk.team.editor.user_id),
        ("document.updated", talk.team.editor.user_id),
        ("comment.updated", talk.cora.user_id),
        ("document.updated", talk.cora.user_id),
    ]
    counts = [event["data"]["document"]["open_comments"] for event in told if "document" in event["data"]]
    assert counts[-2:] == [1, 0]

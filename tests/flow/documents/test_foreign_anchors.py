"""What a thread may be about: parts of its own project's documents, whatever its profile, and nobody else's."""

from __future__ import annotations

from typing import Any

import pytest

from outlast.apps.chat.summary_agent import conversation_before
from outlast.apps.documents.thread_anchors import about
from outlast.db.database import Tx
from outlast.kernel.runs import store as runs
from outlast.kernel.threads import message_store
from outlast.kernel.threads import store as threads
from outlast.kernel.threads.actions import open_thread
from tests.factories import make_project, make_run, make_thread
from tests.flow.documents.talk import *  # noqa: F403  # fixtures
from tests.flow.documents.talk import Talk

SECRET = "Nobody else may read this"


def anchors_in(talk: Talk, comment_id: str) -> list[dict[str, Any]]:
    """Everything in the document that an anchor can name, with and without the document's id."""
    document, section, block = talk.document_id, talk.sections[0], talk.blocks[0]
    bare: list[dict[str, Any]] = [
        {"type": "document", "id": document},
        {"type": "section", "id": section},
        {"type": "comment", "id": comment_id},
        {"type": "selection", "text": "x", "block_id": block},
        {"type": "selection", "text": "x", "section_id": section},
        {"type": "selection", "text": "x"},
    ]
    return [*bare[:-1], *({**one, "document_id": document} for one in bare)]


@pytest.mark.parametrize("profile", ["chat", "document"])
async def test_a_thread_cannot_be_about_anything_of_another_projects_document(talk: Talk, profile: str) -> None:
    comment = await talk.comment("emil", SECRET, block_id=talk.blocks[0])
    own = await talk.services.db.write(make_project, talk.team.stranger)
    for anchor in anchors_in(talk, comment["id"]):
        answer = await talk.call("sten", "POST", f"/projects/{own}/threads", {"profile": profile, "anchor": anchor})
        assert (answer.status, answer.code) == (404, "not_found"), anchor
        assert SECRET.encode() not in answer.body


async def test_an_anchor_in_a_chat_gets_the_document_that_it_is_really_in(talk: Talk) -> None:
    comment = await talk.comment("emil", "Shorter", block_id=talk.blocks[0])
    path = f"/projects/{talk.team.project_id}/threads"
    for anchor in anchors_in(talk, comment["id"]):
        answer = await talk.call("emil", "POST", path, {"anchor": {**anchor, "document_id": talk.document_id}})
        assert answer.status == 201, anchor
        shown = await talk.get("vera", f"/threads/{answer.json()['id']}")
        assert shown["about"]["document_title"] == "Rice"
    wrong = {"type": "comment", "id": comment["id"], "document_id": "doc_other"}
    made = (await talk.call("emil", "POST", path, {"anchor": wrong})).json()
    assert made["anchor"]["document_id"] == talk.document_id


async def test_the_ids_of_an_anchor_are_bounded_whatever_the_database(talk: Talk) -> None:
    path = f"/projects/{talk.team.project_id}/threads"
    for anchor in (
        {"type": "document", "id": "d" * 41},
        {"type": "selection", "text": "x", "document_id": "d" * 41},
        {"type": "selection", "text": "x", "block_id": 7},
    ):
        refused = await talk.call("emil", "POST", path, {"anchor": anchor})
        assert (refused.status, refused.code) == (400, "malformed_input"), anchor
    odd = {"type": "selection", "text": "a\x00b", "more": {"c\x00d": ["e\x00"]}}
    made = await talk.call("emil", "POST", path, {"anchor": odd})
    assert made.json()["anchor"] == {"type": "selection", "text": "ab", "more": {"cd": ["e"]}}


@pytest.mark.apps("documents", "pages", "screens")
async def test_selected_words_and_screens_need_no_document(talk: Talk) -> None:
    own = await talk.services.db.write(make_project, talk.team.stranger)
    for anchor in (
        {"type": "selection", "text": "these words"},
        {"type": "screen", "id": "scr_1", "document_id": talk.document_id},
        {"type": "page", "id": "pag_1", "document_id": talk.document_id},
    ):
        made = await talk.call("sten", "POST", f"/projects/{own}/threads", {"anchor": anchor})
        assert (made.status, made.json()["anchor"]) == (201, anchor)
        assert (await talk.get("sten", f"/threads/{made.json()['id']}"))["about"] is None


async def left_from_before(talk: Talk, anchor: dict[str, Any]) -> str:
    """A stranger's thread that names another project's document, as nobody can make one any more."""

    def make(tx: Tx) -> str:
        own = make_project(tx, talk.team.stranger)
        about = {**anchor, "document_id": talk.document_id}
        return make_thread(tx, own, talk.team.stranger, "hello", anchor=about, title="Mine")

    return await talk.services.db.write(make)


async def test_a_thread_that_names_another_projects_document_shows_nothing_of_it(talk: Talk) -> None:
    comment = await talk.comment("emil", SECRET, block_id=talk.blocks[0])
    for anchor in anchors_in(talk, comment["id"]):
        thread_id = await left_from_before(talk, anchor)
        assert (await open_thread(talk.services, talk.team.stranger, thread_id))["about"] is None


async def test_an_anchor_names_only_what_is_in_its_document(talk: Talk) -> None:
    comment = await talk.comment("emil", SECRET, block_id=talk.blocks[0])
    team = talk.team
    answer = await talk.call("emil", "POST", f"/projects/{team.project_id}/documents", {"title": "Other"})
    other = answer.json()["id"]
    for anchor in anchors_in(talk, comment["id"]):
        if anchor["type"] != "document":
            shown = await talk.services.db.read(about, team.project_id, {**anchor, "document_id": other})
            assert shown is not None
            assert (shown.heading, shown.section_id, shown.comment_id) == (None, None, None), anchor
            assert SECRET not in shown.text


async def test_a_summary_of_such_a_thread_is_not_told_the_documents_title(talk: Talk) -> None:
    parent = await left_from_before(talk, {"type": "document", "id": talk.document_id})

    def look(tx: Tx) -> str:
        held = threads.hold(tx, parent)
        last, _ = message_store.list_messages(tx, parent, None, 1)
        more: dict[str, Any] = {"parent_thread_id": parent, "parent_message_id": last[0].id}
        fork = threads.add_thread(tx, held.project_id, talk.team.stranger.user_id, **more)
        run = runs.run_of(tx, make_run(tx, fork, talk.team.stranger, profile="summary"))
        told = conversation_before(tx, run)
        assert told is not None
        return told.about

    assert await talk.services.db.write(look) == "the document"


async def test_deleting_such_a_thread_tells_the_other_project_nothing(talk: Talk) -> None:
    thread_id = await left_from_before(talk, {"type": "document", "id": talk.document_id})
    before = await talk.news("document.updated")
    assert (await talk.call("sten", "DELETE", f"/threads/{thread_id}")).status == 204
    assert await talk.news("document.updated") == before

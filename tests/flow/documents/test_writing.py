"""Documents over HTTP: made, written in by two people at once, imported, exported, compared, restored, deleted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from outlast.apps.documents.settings import DocumentSettings
from outlast.db.database import Tx
from outlast.kernel.http.allowed_hosts import known_hosts
from outlast.kernel.runs.notifications import announce_thread
from outlast.kernel.threads import store as threads
from outlast.surfaces.http.application import create_http
from tests.app_settings import settings_with
from tests.asgi import Browser
from tests.flow.documents.talk import *  # noqa: F403  # fixtures; the names are in its __all__
from tests.flow.documents.talk import Talk

TEXT = "intro\n\n# Plan\n\nfirst\n\nsecond\n\n## Costs\n\n- a\n- b\n"


async def made(talk: Talk, **body: Any) -> dict[str, Any]:
    answer = await talk.call("emil", "POST", f"/projects/{talk.team.project_id}/documents", body)
    assert answer.status == 201, answer.body
    document: dict[str, Any] = answer.json()
    return document


async def change(talk: Talk, document: dict[str, Any], *changes: dict[str, Any], who: str = "emil", **more: Any):
    path = f"/documents/{document['id']}/changes"
    return await talk.call(who, "POST", path, {"changes": list(changes), **more})


async def markdown(talk: Talk, document: dict[str, Any], query: str = "") -> str:
    answer = await talk.call("vera", "GET", f"/documents/{document['id']}/markdown{query}")
    assert answer.header("content-type") == "text/markdown; charset=utf-8"
    return answer.body.decode()


def block(document: dict[str, Any], text: str) -> dict[str, Any]:
    found = [one for section in document["sections"] for one in section["blocks"] if one["markdown"] == text]
    return dict(found[0])


async def read(talk: Talk, document: dict[str, Any]) -> dict[str, Any]:
    answer = await talk.call("vera", "GET", f"/documents/{document['id']}")
    return dict(answer.json())


async def test_a_document_is_made_of_markdown_with_a_conversation_of_its_own(talk: Talk):
    document = await made(talk, markdown=TEXT)
    assert (document["title"], document["version"], document["words"]) == ("Plan", 1, 9)
    assert [(one["heading"], one["level"], len(one["blocks"])) for one in document["sections"]] == [
        ("", 0, 1),
        ("Plan", 1, 2),
        ("Costs", 2, 1),
    ]
    assert block(document, "- a\n- b")["kind"] == "list"
    thread = (await talk.call("vera", "GET", f"/threads/{document['thread_id']}")).json()
    assert (thread["title"], thread["profile"]) == ("Plan", "document")
    assert thread["anchor"]["id"] == document["id"]
    assert await markdown(talk, document) == TEXT
    listed = (await talk.call("vera", "GET", f"/projects/{talk.team.project_id}/documents")).json()
    assert document["id"] in [one["id"] for one in listed["items"]]


async def test_the_first_heading_that_says_something_is_the_title(talk: Talk):
    assert (await made(talk, markdown="text\n\n#\n\n## Goals\n\n# Later"))["title"] == "Goals"
    assert (await made(talk, markdown="text"))["title"] == "Untitled document"


async def test_a_repeated_key_makes_one_document_and_one_change(talk: Talk):
    path, headers = f"/projects/{talk.team.project_id}/documents", {"idempotency_key": "one"}
    first = await talk.call("emil", "POST", path, {"title": "Twice"}, **headers)
    again = await talk.call("emil", "POST", path, {"title": "Twice"}, **headers)
    assert first.json()["id"] == again.json()["id"]
    insert = {"op": "insert_block", "section_id": None, "after": None, "markdown": "hello", "ref": "x"}
    path, headers = f"/documents/{first.json()['id']}/changes", {"idempotency_key": "two"}
    put = await talk.call("emil", "POST", path, {"changes": [insert]}, **headers)
    same = await talk.call("emil", "POST", path, {"changes": [insert]}, **headers)
    assert put.json()["made"] == same.json()["made"] != {}
    assert same.json()["version"] == 1


async def test_two_people_edit_the_same_block_and_both_are_kept(talk: Talk):
    document = await made(talk, markdown="The quick brown fox jumps over the lazy dog.")
    text = "The quick brown fox jumps over the lazy dog."
    key = block(document, text)["id"]
    mine = text.replace("quick", "slow")
    yours = text.replace("lazy", "sleepy")
    assert (
        await change(talk, document, {"op": "edit_block", "block_id": key, "markdown": mine, "old": text})
    ).status == 200
    answer = await change(
        talk, document, {"op": "edit_block", "block_id": key, "markdown": yours, "old": text}, who="olga"
    )
    assert answer.json()["blocks"][0]["markdown"] == "The slow brown fox jumps over the sleepy dog."
    assert answer.json()["blocks"][0]["editor_name"] == "Olga"


async def test_two_people_change_the_same_words_and_the_second_decides(talk: Talk):
    document = await made(talk, markdown="We need ten people.")
    key = block(document, "We need ten people.")["id"]
    first = {"op": "edit_block", "block_id": key, "markdown": "We need five people.", "old": "We need ten people."}
    second = {**first, "markdown": "We need twenty people."}
    assert (await change(talk, document, first)).status == 200
    refused = await change(talk, document, second, who="olga")
    assert (refused.status, refused.code) == (409, "text_changed")
    fields = refused.json()["fields"]
    assert (fields["current"], fields["wanted"], fields["base"]) == (
        "We need five people.",
        "We need twenty people.",
        "We need ten people.",
    )
    assert any(hunk["kind"] == "conflict" for hunk in fields["hunks"])
    solved = {**second, "markdown": "We need twelve people.", "old": fields["current"]}
    assert (await change(talk, document, solved, who="olga")).status == 200
    assert await markdown(talk, document) == "We need twelve people.\n"


async def test_nobody_deletes_text_unseen(talk: Talk):
    document = await made(talk, markdown="# A\n\none")
    section, one = document["sections"][0], block(document, "one")
    edit = {"op": "edit_block", "block_id": one["id"], "markdown": "one more", "old": "one"}
    assert (await change(talk, document, edit)).status == 200
    gone = await change(talk, document, {"op": "delete_block", "block_id": one["id"], "old": "one"}, who="olga")
    assert (gone.code, gone.json()["fields"]["current"]) == ("text_changed", "one more")
    whole = {"op": "delete_section", "section_id": section["id"], "seen": 1}
    assert (await change(talk, document, whole, who="olga")).code == "text_changed"
    assert (await change(talk, document, {**whole, "seen": 2}, who="olga")).status == 200


async def test_changes_are_made_together_or_not_at_all(talk: Talk):
    document = await made(talk, markdown="# A\n\none\n\n# B\n\ntwo")
    first = document["sections"][0]["id"]
    insert = {"op": "insert_block", "section_id": first, "after": None, "markdown": "zero", "ref": "z"}
    missing = {"op": "delete_block", "block_id": "blk_none", "old": ""}
    assert (await change(talk, document, insert, missing)).status == 404
    assert (await read(talk, document))["version"] == 1
    move = {"op": "move_block", "block_id": "z", "section_id": document["sections"][1]["id"], "after": None}
    done = (await change(talk, document, insert, move)).json()
    assert (await read(talk, document))["sections"][1]["blocks"][0]["id"] == done["made"]["z"]
    assert done["block_order"][document["sections"][1]["id"]][0] == done["made"]["z"]


async def test_a_viewer_of_an_older_version_asks_for_what_is_new(talk: Talk):
    document = await made(talk, markdown="# A\n\none\n\ntwo")
    one, two = block(document, "one"), block(document, "two")
    await change(
        talk, document, {"op": "edit_block", "block_id": one["id"], "markdown": "1\n\n## New\n\nx", "old": "one"}
    )
    await change(talk, document, {"op": "delete_block", "block_id": two["id"], "old": "two"})
    news = (await talk.call("vera", "GET", f"/documents/{document['id']}/changes?since=1")).json()
    assert (news["version"], news["removed"]) == (3, [two["id"]])
    assert [one["heading"] for one in news["sections"]] == ["New"]
    assert news["section_order"] == [document["sections"][0]["id"], news["sections"][0]["id"]]
    assert {one["markdown"] for one in news["blocks"]} == {"1", "x"}
    nothing = (await talk.call("vera", "GET", f"/documents/{document['id']}/changes?since=3")).json()
    assert (nothing["blocks"], nothing["section_order"], nothing["block_order"]) == ([], None, {})
    beyond = await talk.call("vera", "GET", f"/documents/{document['id']}/changes?since=4")
    assert beyond.code == "malformed_input"


async def test_any_version_is_read_compared_and_restored_with_its_ids(talk: Talk):
    document = await made(talk, markdown="# A\n\none\n\n# B\n\ntwo")
    one = block(document, "one")
    await change(talk, document, {"op": "edit_block", "block_id": one["id"], "markdown": "uno", "old": "one"})
    await change(talk, document, {"op": "delete_section", "section_id": document["sections"][1]["id"]})
    path = f"/documents/{document['id']}"
    lines = (await talk.call("vera", "GET", f"{path}/versions")).json()["items"]
    assert [(line["version"], line["kind"], line["by_name"]) for line in lines] == [
        (3, "edit", "Emil"),
        (2, "edit", "Emil"),
        (1, "created", "Emil"),
    ]
    assert lines[1]["summary"] == "Changed a block in “A”"
    assert lines[1]["blocks"] == [one["id"]]
    was = (await talk.call("vera", "GET", f"{path}/versions/1")).json()
    assert [part["heading"] for part in was["content"]] == ["A", "B"]
    assert was["content"] == document["sections"]
    assert await markdown(talk, document, "?version=1") == "# A\n\none\n\n# B\n\ntwo\n"
    diff = (await talk.call("vera", "GET", f"{path}/diff?from=1&to=3")).json()
    assert (diff["from"], diff["to"]) == (1, 3)
    assert [(part["heading_before"], part["state"]) for part in diff["sections"]] == [("A", "same"), ("B", "removed")]
    assert diff["sections"][0]["blocks"] == [{"id": one["id"], "state": "changed", "before": "one", "after": "uno"}]
    restored = (await talk.call("emil", "POST", f"{path}/restore", {"version": 1})).json()
    assert (restored["version"], restored["section_order"]) == (4, [part["id"] for part in document["sections"]])
    assert await markdown(talk, document) == "# A\n\none\n\n# B\n\ntwo\n"
    again = (await talk.call("emil", "POST", f"{path}/restore", {"version": 1})).json()
    assert again["version"] == 4
    assert (await talk.call("emil", "POST", f"{path}/restore", {"version": 9})).status == 404


async def test_a_restore_replaces_nothing_that_is_newer_than_what_was_looked_at(talk: Talk):
    document = await made(talk, markdown="one")
    path, key = f"/documents/{document['id']}/restore", block(document, "one")["id"]
    for old, text in (("one", "two"), ("two", "three")):
        edit = {"op": "edit_block", "block_id": key, "markdown": text, "old": old}
        assert (await change(talk, document, edit)).status == 200
    refused = await talk.call("olga", "POST", path, {"version": 1, "seen": 2})
    assert (refused.status, refused.code) == (409, "text_changed")
    fields = refused.json()["fields"]
    assert (fields["version"], fields["seen"]) == (3, 2)
    assert await markdown(talk, document) == "three\n"
    restored = await talk.call("olga", "POST", path, {"version": 1, "seen": 3})
    assert (restored.status, restored.json()["version"]) == (200, 4)
    again = await talk.call("olga", "POST", path, {"version": 1, "seen": 3})
    assert (again.status, again.json()["version"]) == (200, 4)  # there is nothing to replace


async def test_an_import_replaces_nothing_that_is_newer_than_what_was_looked_at(talk: Talk):
    document = await made(talk, markdown="one")
    path, key = f"/documents/{document['id']}/import", block(document, "one")["id"]
    edit = {"op": "edit_block", "block_id": key, "markdown": "two", "old": "one"}
    assert (await change(talk, document, edit)).status == 200
    body = {"markdown": "mine", "replace": True, "seen": 1}
    refused = await talk.call("olga", "POST", path, body)
    assert (refused.status, refused.code) == (409, "text_changed")
    fields = refused.json()["fields"]
    assert (fields["version"], fields["seen"]) == (2, 1)
    assert await markdown(talk, document) == "two\n"
    put = await talk.call("olga", "POST", path, {**body, "seen": 2}, idempotency_key="mine")
    again = await talk.call("olga", "POST", path, {**body, "seen": 2}, idempotency_key="mine")
    assert (put.status, again.status, again.json()["version"]) == (200, 200, 3)


async def test_markdown_is_added_at_a_place_or_becomes_the_whole_document(talk: Talk):
    document = await made(talk, markdown="# A\n\none\n\n# B\n\ntwo")
    path = f"/documents/{document['id']}/import"
    first = document["sections"][0]["id"]
    body = {"markdown": "more\n\n## Sub\n\nx", "after_section_id": first}
    assert (await talk.call("emil", "POST", path, body)).status == 200
    assert await markdown(talk, document) == "# A\n\none\n\nmore\n\n## Sub\n\nx\n\n# B\n\ntwo\n"
    await talk.call("emil", "POST", path, {"markdown": "at the end"})
    assert (await markdown(talk, document)).endswith("two\n\nat the end\n")
    text = "# A\n\none, but with other words\n\n# B\n\ntwo\n\nthree"
    swapped = await talk.call("emil", "POST", path, {"markdown": text, "replace": True})
    assert swapped.status == 200
    assert await markdown(talk, document) == text + "\n"
    now = await read(talk, document)
    assert [part["id"] for part in now["sections"]] == [part["id"] for part in document["sections"]]
    assert block(now, "two")["id"] == block(document, "two")["id"]


async def test_a_download_is_named_like_the_document(talk: Talk):
    document = await made(talk, title='Bericht "Öl"/2026', markdown="x")
    answer = await talk.call("vera", "GET", f"/documents/{document['id']}/markdown?download=1")
    named = answer.header("content-disposition")
    assert (
        named == "attachment; filename=\"Bericht l 2026.md\"; filename*=UTF-8''Bericht%20%20%C3%96l%20%202026.md"
        or ("filename*=UTF-8''Bericht" in named and "%C3%96l" in named)
    )


async def test_renaming_a_document_or_its_conversation_renames_both(talk: Talk):
    document = await made(talk, title="Old")
    await talk.call("emil", "PATCH", f"/documents/{document['id']}", {"title": "New"})
    assert (await talk.call("vera", "GET", f"/threads/{document['thread_id']}")).json()["title"] == "New"
    await talk.call("emil", "PATCH", f"/threads/{document['thread_id']}", {"title": "Newer"})
    assert (await read(talk, document))["title"] == "Newer"


async def test_the_conversation_of_a_document_lives_and_dies_with_it(talk: Talk):
    document = await made(talk, title="Short-lived", markdown="# A\n\nx")
    own = f"/threads/{document['thread_id']}"
    assert (await talk.call("olga", "DELETE", own)).code == "thread_of_document"
    assert (await talk.call("emil", "POST", f"{own}/archive")).code == "thread_of_document"
    anchor = {"type": "section", "id": document["sections"][0]["id"]}
    body = {"profile": "document", "anchor": anchor, "title": "About A"}
    about = (await talk.call("emil", "POST", f"/projects/{talk.team.project_id}/threads", body)).json()
    assert about["anchor"] == {**anchor, "document_id": document["id"]}
    listed = (await talk.call("vera", "GET", f"/documents/{document['id']}/threads")).json()["items"]
    assert [one["id"] for one in listed] == [document["thread_id"], about["id"]]

    def busy(tx: Tx, run_id: str | None) -> None:
        threads.set_run_state(tx, about["id"], "generating" if run_id else "idle", run_id)

    await talk.services.db.write(busy, "run_1")
    assert (await talk.call("olga", "DELETE", f"/documents/{document['id']}")).code == "thread_busy"
    await talk.services.db.write(busy, None)
    assert (await talk.call("emil", "DELETE", f"/documents/{document['id']}")).status == 403
    assert (await talk.call("olga", "DELETE", f"/documents/{document['id']}")).status == 204
    for path in (f"/documents/{document['id']}", own, f"/threads/{about['id']}"):
        assert (await talk.call("olga", "GET", path)).status == 404


async def test_a_thread_about_a_document_needs_something_of_the_project_to_be_about(talk: Talk):
    document = await made(talk, title="D", markdown="# A\n\nx")
    path = f"/projects/{talk.team.project_id}/threads"
    block_id, section_id = document["sections"][0]["blocks"][0]["id"], document["sections"][0]["id"]
    selection = {"type": "selection", "document_id": document["id"], "block_id": block_id, "text": "x"}
    made_of = (await talk.call("emil", "POST", path, {"profile": "document", "anchor": selection})).json()
    assert made_of["anchor"] == {**selection, "section_id": section_id}
    for anchor in (
        None,
        {"type": "page", "id": "pag_1"},
        {"type": "document", "id": "doc_none"},
        {"type": "section", "id": "sec_none"},
        {"type": "comment", "id": "cmt_none"},
        {**selection, "block_id": "blk_none"},
        {**selection, "text": ""},
    ):
        refused = await talk.call("emil", "POST", path, {"profile": "document", "anchor": anchor})
        assert refused.code in ("malformed_input", "not_found"), anchor


async def test_lists_show_the_run_that_works_on_a_document(talk: Talk):
    document = await made(talk, title="D", markdown="x")

    def begins(tx: Tx) -> None:
        threads.set_run_state(tx, document["thread_id"], "generating", "run_1")
        announce_thread(tx, document["thread_id"])

    await talk.services.db.write(begins)
    assert (await read(talk, document))["active_run_id"] == "run_1"
    assert (await talk.news("document.updated"))[-1]["data"]["document"]["active_run_id"] == "run_1"


async def test_projects_and_documents_have_bounds_that_say_so(talk: Talk):
    document = await made(talk, markdown="# A\n\none")
    few = settings_with(
        talk.services.settings, DocumentSettings(most_per_project=1, most_blocks=10, block_chars=100, text_chars=1000)
    )
    surface = replace(talk.site.local_surface, services=replace(talk.services, settings=few))
    app = create_http(surface, known_hosts("127.0.0.1", "", ()))
    small = replace(talk, browsers={"emil": Browser(app, talk.browsers["emil"].headers)})
    full = await small.call("emil", "POST", f"/projects/{talk.team.project_id}/documents", {"title": "More"})
    assert (full.status, full.code) == (409, "too_many_documents")
    insert = {"op": "insert_block", "section_id": None, "after": None}
    long = await change(small, document, {**insert, "markdown": "x" * 101})
    assert (long.status, long.code) == (413, "input_too_large")
    many = await change(small, document, {**insert, "markdown": "x\n\n" * 9})
    assert (many.status, many.code) == (409, "document_full")
    whole = await small.call("emil", "POST", f"/documents/{document['id']}/import", {"markdown": "x" * 1001})
    assert (whole.status, whole.code) == (413, "input_too_large")
    assert "parts" in whole.json()["hint"]
    assert (await read(talk, document))["version"] == 1


async def test_what_is_no_change_is_refused(talk: Talk):
    document = await made(talk, markdown="# A\n\none")
    section, one = document["sections"][0]["id"], block(document, "one")["id"]
    for wrong in (
        {"op": "edit_block", "block_id": one, "markdown": "x"},
        {"op": "edit_section", "section_id": section, "level": 9},
        {"op": "move_block", "block_id": one, "section_id": section, "after": one},
        {"op": "swap", "block_id": one},
        {"op": "delete_block", "block_id": one, "old": "one", "extra": 1},
    ):
        assert (await change(talk, document, wrong)).status in (400, 422), wrong
    assert (await talk.call("emil", "POST", f"/documents/{document['id']}/changes", {"changes": []})).status == 400
    other = await made(talk, markdown="# Elsewhere\n\nsecret")
    foreign = {"op": "move_block", "block_id": block(other, "secret")["id"], "section_id": section, "after": None}
    assert (await change(talk, document, foreign)).status == 404


async def test_a_text_of_other_systems_is_compared_without_its_line_ends(talk: Talk):
    document = await made(talk, markdown="one\ntwo")
    key = block(document, "one\ntwo")["id"]
    edit = {"op": "edit_block", "block_id": key, "markdown": "one\r\nthree\r\n", "old": "one\r\ntwo\r\n"}
    assert (await change(talk, document, edit)).json()["blocks"][0]["markdown"] == "one\nthree"


async def test_text_that_looks_like_markup_is_kept_as_it_is(talk: Talk):
    text = "<script>alert(1)</script>\n\n[x](javascript:alert)\n\n\u202eabc\u0000d\n"
    document = await made(talk, markdown=text)
    assert await markdown(talk, document) == text.replace("\u0000", "")


async def test_a_change_takes_texts_of_a_size_and_without_what_no_database_holds(talk: Talk):
    document = await made(talk, title="D")
    insert = {"op": "insert_block", "section_id": None, "after": None}
    long = await change(talk, document, {**insert, "markdown": "x\n\n" * 70_000})
    assert (long.status, long.code) == (413, "input_too_large")
    assert "import" in long.json()["hint"]
    assert (await change(talk, document, {**insert, "markdown": "a\u0000b"})).status == 200
    assert await markdown(talk, document) == "ab\n"


async def test_the_texts_of_one_request_have_a_bound_together(talk: Talk):
    document = await made(talk, markdown="# A\n\none")
    insert = {"op": "insert_block", "section_id": None, "after": None}
    long = await change(talk, document, *[{**insert, "markdown": "x" * 150_000} for _ in range(3)])
    assert (long.status, long.code) == (413, "input_too_large")
    one = block(document, "one")["id"]
    for field in ("markdown", "old"):
        texts = {"markdown": "x", "old": "one", field: "x" * 200_001}
        long = await change(talk, document, {"op": "edit_block", "block_id": one, **texts})
        assert (long.status, long.code) == (413, "input_too_large")
    heading = {"op": "insert_section", "after": None, "heading": "x" * 200_001}
    assert (await change(talk, document, heading)).code == "input_too_large"
    text = "word " * 9_000 + "\n\n# B\n\nend"
    put = await change(talk, document, {"op": "edit_block", "block_id": one, "markdown": text, "old": "one"})
    assert (put.status, len((await read(talk, document))["sections"])) == (200, 2)


async def test_a_file_with_front_matter_comes_out_as_it_went_in(talk: Talk):
    text = "---\nname: fastapi\ntags: [web, api]\n---\n\n# FastAPI\n\nText.\n"
    document = await made(talk, markdown=text)
    assert await markdown(talk, document) == text
    assert block(document, "---\nname: fastapi\ntags: [web, api]\n---")["kind"] == "front_matter"
    body = {"markdown": text.replace("web", "http"), "replace": True}
    assert (await talk.call("emil", "POST", f"/documents/{document['id']}/import", body)).status == 200
    assert await markdown(talk, document) == text.replace("web", "http")

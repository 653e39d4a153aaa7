"""Pages over HTTP: made, listed, renamed, copied, forked, deleted; their history, code and links, as each role."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from outlast.apps.pages.embeds.page_links import PageLinks
from outlast.apps.pages.rows import PageLinkRow
from outlast.apps.pages.settings import PageSettings
from outlast.apps.pages.tables import page_links
from outlast.apps.pages.versions import Author, Rules, take_full
from outlast.base.errors import NotFound
from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.kernel.projects.tables import members
from outlast.kernel.sandboxes.rows import WorkspaceRow
from outlast.kernel.sandboxes.tables import workspaces
from outlast.kernel.threads.message_store import add_message
from outlast.kernel.threads.store import set_run_state
from tests.factories import Team, make_run, say
from tests.flow.canvas.conftest import Watcher
from tests.flow.canvas.test_canvas import setting
from tests.flow.http.conftest import Site
from tests.flow.pages.conftest import make_page

REFRESH = '<button data-action="refresh">Again</button>'


async def change(site: Site, page_id: str, html: str, run_id: str | None = None, by: str | None = None) -> None:
    """As an agent, or a person, would change the whole page."""
    author = Author(run_id=run_id, step=1 if run_id else None, by=by)
    await site.services.db.write(take_full, page_id, site.services.state(Rules), html, author)


async def test_a_new_page_has_a_thread_and_a_workspace_of_its_own(site: Site, team: Team):
    editor = await site.signed_in(team.editor)
    async with Watcher(site, team.viewer, team.project_id) as watcher:
        first = await make_page(editor, team.project_id)
        told = await watcher.next("page.created")
    second = await make_page(editor, team.project_id, title="Issues", html="<h1 onclick='x()'>Open</h1>")
    assert (first["title"], first["html"], first["version"], first["state"]) == ("Untitled page", "", 0, "new")
    assert (told["page"]["id"], told["by"]) == (first["id"], team.editor.user_id)
    assert (second["title"], second["html"], second["version"]) == ("Issues", "<h1>Open</h1>", 1)
    thread = (await editor.get(f"/v1/threads/{second['thread_id']}")).json()
    assert thread["anchor"] == {"type": "page", "id": second["id"]}
    assert (thread["profile"], thread["title"]) == ("page", "Issues")
    row = await site.services.db.read(lambda tx: tx.find(WorkspaceRow, workspaces, {"id": second["workspace_id"]}))
    assert row is not None
    assert (row.owner_type, row.owner_id, row.evicted_at) == ("page", second["id"], None)
    listed = (await editor.get(f"/v1/projects/{team.project_id}/pages")).json()
    assert [(one["id"], one["html"]) for one in listed["items"]] == [(first["id"], ""), (second["id"], "")]
    assert (await editor.get(f"/v1/pages/{second['id']}")).json() == second


async def test_a_list_of_pages_goes_on_where_it_was_cut(site: Site, team: Team):
    editor = await site.signed_in(team.editor)
    made = [(await make_page(editor, team.project_id))["id"] for _ in range(3)]
    path = f"/v1/projects/{team.project_id}/pages"
    first = (await editor.get(f"{path}?limit=2")).json()
    rest = (await editor.get(f"{path}?limit=2&after={first['next']}")).json()
    assert [one["id"] for one in first["items"] + rest["items"]] == made
    assert rest["next"] is None


async def test_a_repeated_key_makes_one_page(site: Site, team: Team):
    editor = await site.signed_in(team.editor)
    path = f"/v1/projects/{team.project_id}/pages"
    first, second = [await editor.post(path, {"title": "A"}, idempotency_key="k1") for _ in range(2)]
    other = await editor.post(path, {"title": "B"}, idempotency_key="k1")
    assert first.json()["id"] == second.json()["id"]
    assert (other.status, other.code) == (422, "idempotency_mismatch")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"title": "  "}, 400, "malformed_input"),
        ({"title": "x" * 300}, 413, "input_too_large"),
        ({"html": "x" * 1_000_001}, 413, "input_too_large"),
        ({"text": "hello"}, 400, "malformed_input"),
    ],
)
async def test_what_makes_no_page_is_refused_and_leaves_nothing(
    site: Site, team: Team, body: dict[str, Any], status: int, code: str
):
    editor = await site.signed_in(team.editor)
    path = f"/v1/projects/{team.project_id}/pages"
    answer = await editor.post(path, body)
    assert (answer.status, answer.code) == (status, code), answer.body
    assert (await editor.get(path)).json()["items"] == []


async def test_a_project_takes_only_so_many_pages_and_a_person_only_so_many_a_minute(site: Site, team: Team):
    editor = await site.signed_in(team.editor)
    path = f"/v1/projects/{team.project_id}/pages"
    page = await make_page(editor, team.project_id)
    with setting(site.services.settings.of(PageSettings), most_per_project=1):
        for answer in (await editor.post(path, {}), await editor.post(f"/v1/pages/{page['id']}/duplicate")):
            assert (answer.status, answer.code) == (409, "too_many_pages")
    with setting(site.services.settings.limits, pages_per_minute_per_user=1):
        answer = await editor.post(path, {})
        assert (answer.status, answer.code) == (429, "rate_limited")


async def test_a_page_and_its_thread_have_one_title_whoever_changes_it(site: Site, team: Team):
    editor = await site.signed_in(team.editor)
    page = await make_page(editor, team.project_id)
    renamed = await editor.call("PATCH", f"/v1/pages/{page['id']}", {"title": " Open  issues "})
    assert renamed.json()["title"] == "Open issues"
    assert (await editor.get(f"/v1/threads/{page['thread_id']}")).json()["title"] == "Open issues"
    async with Watcher(site, team.viewer, team.project_id) as watcher:
        await editor.call("PATCH", f"/v1/threads/{page['thread_id']}", {"title": "Bugs"})
        assert (await watcher.next("page.updated"))["page"]["title"] == "Bugs"


async def test_a_pages_thread_is_neither_archived_nor_deleted_without_it(site: Site, team: Team):
    owner = await site.signed_in(team.owner)
    page = await make_page(owner, team.project_id)
    thread = f"/v1/threads/{page['thread_id']}"
    for answer in (await owner.post(f"{thread}/archive"), await owner.call("DELETE", thread)):
        assert (answer.status, answer.code) == (409, "thread_of_page")
    made = await owner.post(f"/v1/projects/{team.project_id}/threads", {"profile": "page"})
    assert (made.status, made.code) == (400, "malformed_input")
    assert "/pages" in made.json()["hint"]


async def test_a_page_goes_with_all_that_is_its_own_but_not_while_a_run_works(site: Site, team: Team):
    owner = await site.signed_in(team.owner)
    page = await make_page(owner, team.project_id, html=REFRESH)
    path = f"/v1/pages/{page['id']}"
    await owner.post(f"{path}/links", {})
    acted = (await owner.post(f"{path}/actions", {"name": "refresh"})).json()
    refused = await owner.call("DELETE", path)
    assert (refused.status, refused.code) == (409, "thread_busy")
    await owner.post(f"/v1/runs/{acted['run_id']}/cancel")
    async with Watcher(site, team.viewer, team.project_id) as watcher:
        assert (await owner.call("DELETE", path)).status == 204
        assert (await watcher.next("page.deleted")) == {"page_id": page["id"]}
    for gone in (path, f"/v1/threads/{page['thread_id']}"):
        assert (await owner.get(gone)).status == 404
    assert (await owner.get(f"/v1/projects/{team.project_id}/pages")).json()["items"] == []


async def test_followers_of_the_project_see_what_state_a_page_is_in(site: Site, team: Team):
    editor = await site.signed_in(team.editor)
    page = await make_page(editor, team.project_id, html=REFRESH)
    async with Watcher(site, team.viewer, team.project_id) as watcher:
        acted = (await editor.post(f"/v1/pages/{page['id']}/actions", {"name": "refresh"})).json()
        told = (await watcher.next("page.updated"))["page"]
        assert (told["state"], told["active_run_id"], told["html"]) == ("working", acted["run_id"], "")
        await editor.post(f"/v1/runs/{acted['run_id']}/cancel")
        assert (await watcher.next("page.updated"))["page"]["state"] == "ready"


async def test_actions_are_listed_newest_first_and_by_state(site: Site, team: Team):
    editor = await site.signed_in(team.editor)
    offered = '<button data-action="open">Open</button><button data-action="close">Close</button>'
    path = f"/v1/pages/{(await make_page(editor, team.project_id, html=offered))['id']}/actions"
    unknown = await editor.post(path, {"name": "evil"})
    assert (unknown.status, unknown.code) == (422, "action_not_offered")
    first = await editor.post(path, {"name": "open", "data": {"id": 7}})
    assert first.status == 202
    assert set(first.json()) == {"action_id", "state", "run_id", "thread_id"}
    await editor.post(f"/v1/runs/{first.json()['run_id']}/cancel")
    await editor.post(path, {"name": "close"})
    listed = (await editor.get(path)).json()["items"]
    assert [(one["name"], one["state"], one["data"]) for one in listed] == [
        ("close", "taken", {}),
        ("open", "dropped", {"id": 7}),
    ]
    page = (await editor.get(f"{path}?limit=1")).json()
    assert [one["name"] for one in (await editor.get(f"{path}?limit=1&before={page['next']}")).json()["items"]] == [
        "open"
    ]
    assert [one["name"] for one in (await editor.get(f"{path}?state=taken")).json()["items"]] == ["close"]


async def test_a_page_is_taken_back_run_by_run_and_made_again_what_it_was(site: Site, team: Team):
    editor = await site.signed_in(team.editor)
    page = await make_page(editor, team.project_id, html="<p>one</p>")
    path = f"/v1/pages/{page['id']}"
    for text in ("two", "three"):
        await change(site, page["id"], f"<p>{text}</p>", "run_a", team.editor.user_id)
    versions = (await editor.get(f"{path}/versions")).json()
    assert [(one["version"], one["kind"], one["run_id"]) for one in versions["items"]] == [
        (3, "full", "run_a"),
        (2, "full", "run_a"),
        (1, "created", None),
    ]
    assert (await editor.get(f"{path}/versions/2")).json()["html"] == "<p>two</p>"
    async with Watcher(site, team.viewer, team.project_id) as watcher:
        undone = (await editor.post(f"{path}/undo")).json()
        assert (await watcher.next("page.updated"))["page"]["version"] == 4
    assert (undone["html"], undone["version"]) == ("<p>one</p>", 4)
    nothing = await editor.post(f"{path}/undo")
    assert (nothing.status, nothing.code) == (409, "nothing_to_undo")
    restored = (await editor.post(f"{path}/restore", {"version": 3})).json()
    assert (restored["html"], restored["version"]) == ("<p>three</p>", 5)
    again = (await editor.post(f"{path}/restore", {"version": 3})).json()
    assert again["version"] == 5
    missing = await editor.post(f"{path}/restore", {"version": 99})
    assert (missing.status, missing.code) == (404, "not_found")
    listed = (await editor.get(f"{path}/versions?limit=2")).json()
    assert (listed["next"], [one["version"] for one in listed["items"]]) == (4, [5, 4])


async def test_a_page_is_not_taken_back_while_a_run_works_or_somebody_else_drives(site: Site, team: Team):
    editor, owner = await site.signed_in(team.editor), await site.signed_in(team.owner)
    page = await make_page(editor, team.project_id, html="<p>one</p>")
    path = f"/v1/pages/{page['id']}"
    await change(site, page["id"], REFRESH, by=team.editor.user_id)
    acted = (await editor.post(f"{path}/actions", {"name": "refresh"})).json()
    for what, body in (("undo", None), ("restore", {"version": 1})):
        busy = await editor.post(f"{path}/{what}", body)
        assert (busy.status, busy.code) == (409, "thread_busy")
    await editor.post(f"/v1/runs/{acted['run_id']}/cancel")
    locked = await owner.post(f"{path}/undo")
    assert (locked.status, locked.code) == (409, "thread_locked")
    assert (await editor.post(f"{path}/undo")).json()["html"] == "<p>one</p>"


async def test_a_copy_has_the_html_and_conversation_and_goes_its_own_way(site: Site, team: Team):
    editor = await site.signed_in(team.editor)
    page = await make_page(editor, team.project_id, title="Issues", html="<p>one</p>")
    await site.services.db.write(say, page["thread_id"], team.editor, "Show my issues")
    path = f"/v1/pages/{page['id']}/duplicate"
    first, second = [(await editor.post(path, idempotency_key="k2")).json() for _ in range(2)]
    assert first == second
    assert (first["title"], first["html"], first["version"]) == ("Issues (copy)", "<p>one</p>", 1)
    assert first["workspace_id"] != page["workspace_id"]
    messages = (await editor.get(f"/v1/threads/{first['thread_id']}/messages")).json()["items"]
    assert [one["parts"][0]["text"] for one in messages] == ["Show my issues"]
    versions = (await editor.get(f"/v1/pages/{first['id']}/versions")).json()["items"]
    assert [one["kind"] for one in versions] == ["copy"]
    await change(site, first["id"], "<p>two</p>", by=team.editor.user_id)
    assert (await editor.get(f"/v1/pages/{page['id']}")).json()["html"] == "<p>one</p>"
    empty = await make_page(editor, team.project_id)
    copied = (await editor.post(f"/v1/pages/{empty['id']}/duplicate")).json()
    assert (copied["html"], copied["version"], copied["state"]) == ("", 0, "new")


async def test_a_fork_of_its_conversation_is_a_page_as_it_was_at_the_message(site: Site, team: Team):
    editor = await site.signed_in(team.editor)
    page = await make_page(editor, team.project_id)
    before = await site.services.db.write(say, page["thread_id"], team.editor, "Show my issues")
    await change(site, page["id"], "<p>one</p>", "run_a", team.editor.user_id)
    then = await site.services.db.write(say, page["thread_id"], None, "There they are.")
    await change(site, page["id"], "<p>two</p>", "run_b", team.editor.user_id)
    path = f"/v1/threads/{page['thread_id']}/fork"
    htmls = {}
    for name, message_id in (("before", before), ("then", then), ("now", None)):
        body = {} if message_id is None else {"message_id": message_id}
        fork = await editor.post(path, body)
        assert fork.status == 201, fork.body
        forked = (await editor.get(f"/v1/pages/{fork.json()['anchor']['id']}")).json()
        assert forked["thread_id"] == fork.json()["id"]
        htmls[name] = forked["html"]
    assert htmls == {"before": "", "then": "<p>one</p>", "now": "<p>two</p>"}


def tool_call(tool: str, arguments: str, result: str | None = "done") -> dict[str, Any]:
    return {
        "type": "tool_call",
        "id": new_id("part"),
        "step": 1,
        "call_id": "c",
        "tool": tool,
        "arguments": arguments,
        "status": "done",
        "result": result,
        "duration_s": 0.5,
    }


async def test_the_code_that_ran_for_a_page_is_shown_with_its_results(site: Site, team: Team):
    viewer = await site.signed_in(team.viewer)
    page = await make_page(await site.signed_in(team.editor), team.project_id)

    def answer(tx: Tx, *parts: dict[str, Any]) -> str:
        return add_message(tx, page["thread_id"], "assistant", None, "complete", list(parts), run_id="run_1").id

    first = await site.services.db.write(
        answer, tool_call("search_docs", '{"query":"list issues"}'), tool_call("ask_user", "{}")
    )
    code = '{"code":"await issues()","description":"Fetch the issues"}'
    second = await site.services.db.write(
        answer, tool_call("run_code", code, '{"success":true}'), tool_call("terminal", '{"comm')
    )
    listed = (await viewer.get(f"/v1/pages/{page['id']}/code")).json()
    assert [(one["tool"], one["code"], one["message_id"]) for one in listed["items"]] == [
        ("terminal", '{"comm', second),
        ("run_code", "await issues()", second),
        ("search_docs", "list issues", first),
    ]
    ran = listed["items"][1]
    assert (ran["description"], ran["language"], ran["result"]) == (
        "Fetch the issues",
        "typescript",
        '{"success":true}',
    )
    page_one = (await viewer.get(f"/v1/pages/{page['id']}/code?limit=1")).json()
    assert len(page_one["items"]) == 2  # calls of one answer stay together
    rest = (await viewer.get(f"/v1/pages/{page['id']}/code?before={page_one['next']}")).json()
    assert [one["tool"] for one in rest["items"]] == ["search_docs"]


async def test_the_code_of_a_run_that_works_is_shown_too(site: Site, team: Team):
    editor = await site.signed_in(team.editor)
    page = await make_page(editor, team.project_id)

    def begin(tx: Tx) -> None:
        run_id = make_run(tx, page["thread_id"], team.editor, profile="page")
        set_run_state(tx, page["thread_id"], "generating", run_id)

    await site.services.db.write(begin)
    answer = await editor.get(f"/v1/pages/{page['id']}/code")
    assert (answer.status, answer.json()["items"]) == (200, [])


async def test_a_links_secret_is_shown_once_and_stored_nowhere(site: Site, team: Team):
    editor = await site.signed_in(team.editor)
    page = await make_page(editor, team.project_id, html="<p>one</p>")
    path = f"/v1/pages/{page['id']}/links"
    made = await editor.post(path, {"name": 'The "wiki"', "expires_in_days": 30})
    assert made.status == 201
    secret = made.json()["url"].rpartition("/embed/")[2]
    assert f"{page['id'].replace('_', '-')}.pages." in made.json()["url"]
    assert "&quot;wiki&quot;" in made.json()["frame"]
    (listed,) = (await editor.get(path)).json()["items"]
    assert set(listed) == {"id", "page_id", "name", "created_by", "created_at", "expires_at"}
    rows = await site.services.db.read(lambda tx: tx.rows(PageLinkRow, sa.select(page_links)))
    assert all(secret not in str(row) for row in rows)
    viewer = await site.signed_in(team.viewer)
    assert (await viewer.get(path)).status == 403


async def test_a_link_opens_its_page_until_it_is_revoked_or_over_or_its_maker_has_left(site: Site, team: Team):
    editor, services = await site.signed_in(team.editor), site.services
    page = await make_page(editor, team.project_id, html="<p>one</p>")
    path = f"/v1/pages/{page['id']}/links"

    async def link(**body: Any) -> tuple[str, str]:
        made = (await editor.post(path, body)).json()
        return made["id"], made["url"].rpartition("/embed/")[2]

    async def opens(secret: str) -> bool:
        try:
            return (await PageLinks(services).open(page["id"], secret)).html == "<p>one</p>"
        except NotFound:
            return False

    kept, revoked, over = await link(), await link(), await link(expires_in_days=1)
    assert [await opens(secret) for _, secret in (kept, revoked, over)] == [True] * 3
    for _ in range(2):
        assert (await editor.call("DELETE", f"{path}/{revoked[0]}")).status == 204
    await services.db.write(lambda tx: tx.update(page_links, {"id": over[0]}, expires_at=tx.now))
    assert [await opens(secret) for _, secret in (kept, revoked, over)] == [True, False, False]
    assert [one["id"] for one in (await editor.get(path)).json()["items"]] == [kept[0]]
    assert (await editor.call("DELETE", f"{path}/lnk_none")).status == 404
    gone = members.c.user_id == team.editor.user_id
    await services.db.write(lambda tx: tx.execute(sa.update(members).where(gone).values(role="viewer")))
    assert not await opens(kept[1])


async def test_a_page_has_only_so_many_links(site: Site, team: Team):
    editor = await site.signed_in(team.editor)
    path = f"/v1/pages/{(await make_page(editor, team.project_id))['id']}/links"
    answers = [(await editor.post(path, {})).status for _ in range(51)]
    assert answers == [201] * 50 + [400]

"""Screens on a canvas, over HTTP: made, placed, moved, changed, copied, deleted, as each role."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import pytest

from outlast.apps.screens.placement import GAP, HEIGHT, WIDTH, Box, overlap
from tests.asgi import Browser
from tests.factories import Team, say
from tests.flow.canvas.conftest import Watcher, log_seq, make_screen
from tests.flow.http.conftest import Site


async def test_a_new_screen_has_a_thread_files_and_a_place_of_its_own(site: Site, team: Team):
    editor = await site.signed_in(team.editor)
    first = await make_screen(editor, team.project_id)
    second = await make_screen(editor, team.project_id, title="Pricing", template="vite", theme="ocean")
    assert (first["title"], first["template"], first["theme"], first["state"]) == (
        "Untitled screen",
        "next",
        "default",
        "new",
    )
    assert (first["x"], first["y"], first["width"], first["height"]) == (0, 0, WIDTH, HEIGHT)
    assert (second["x"], second["y"]) == (WIDTH + GAP, 0)
    thread = (await editor.get(f"/v1/threads/{second['thread_id']}")).json()
    assert thread["anchor"] == {"type": "screen", "id": second["id"]}
    assert (thread["profile"], thread["title"]) == ("screen", "Pricing")
    listed = (await editor.get(f"/v1/projects/{team.project_id}/screens")).json()
    assert [one["id"] for one in listed["items"]] == [first["id"], second["id"]]
    assert listed["next"] is None


async def test_a_screen_begins_with_its_templates_files_in_its_theme(site: Site, team: Team):
    editor = await site.signed_in(team.editor)
    screen = await make_screen(editor, team.project_id, theme="rose")
    files = (await editor.get(f"/v1/screens/{screen['id']}/files")).json()
    assert [one["path"] for one in files["items"]] == [
        "app/globals.css",
        "app/page.tsx",
        "components/ui/button.tsx",
        "package.json",
    ]
    assert files["live"] is False
    styles = await editor.get(f"/v1/screens/{screen['id']}/files/content?path=app/globals.css")
    themes = (await editor.get("/v1/themes")).json()["items"]
    rose = next(theme for theme in themes if theme["id"] == "rose")
    assert f"--primary: {rose['light']['primary']};".encode() in styles.body


async def test_a_repeated_key_makes_one_screen(site: Site, team: Team):
    editor = await site.signed_in(team.editor)
    path = f"/v1/projects/{team.project_id}/screens"
    first, second = [await editor.post(path, {"title": "A"}, idempotency_key="k1") for _ in range(2)]
    other = await editor.post(path, {"title": "B"}, idempotency_key="k1")
    assert first.json()["id"] == second.json()["id"]
    assert (other.status, other.code) == (422, "idempotency_mismatch")


async def test_screens_made_at_the_same_moment_do_not_overlap(site: Site, team: Team):
    editor = await site.signed_in(team.editor)
    made: list[dict[str, Any]] = []

    async def make() -> None:
        made.append(await make_screen(editor, team.project_id))

    async with anyio.create_task_group() as tasks:
        for _ in range(6):
            tasks.start_soon(make)
    boxes = [Box(one["x"], one["y"], one["width"], one["height"]) for one in made]
    assert not any(overlap(a, b) for a in boxes for b in boxes if a is not b)


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"width": 10}, 400, "malformed_input"),
        ({"height": 100_000}, 400, "malformed_input"),
        ({"x": 2**31}, 400, "malformed_input"),
        ({"x": 20_000_000}, 400, "malformed_input"),
        ({"title": "  "}, 400, "malformed_input"),
        ({"title": "x" * 300}, 413, "input_too_large"),
        ({"template": "svelte"}, 400, "malformed_input"),
        ({"theme": "nope"}, 422, "unknown_theme"),
        ({"theme": "custom"}, 400, "malformed_input"),
        ({"theme_tokens": {"light": {"primary": "red; } body { display: none"}}}, 400, "malformed_input"),
        ({"theme_tokens": {"light": {"primary": "url(https://evil.example)"}}}, 400, "malformed_input"),
        ({"theme_tokens": {"light": {"nonsense": "red"}}}, 400, "malformed_input"),
    ],
)
async def test_what_makes_no_sense_is_refused_with_a_reason(
    site: Site, team: Team, body: dict[str, Any], status: int, code: str
):
    editor = await site.signed_in(team.editor)
    screen = await make_screen(editor, team.project_id)
    answers = [await editor.post(f"/v1/projects/{team.project_id}/screens", body)]
    if "template" not in body:
        answers.append(await editor.call("PATCH", f"/v1/screens/{screen['id']}", body))
    for answer in answers:
        assert (answer.status, answer.code) == (status, code), answer.body
    assert len((await editor.get(f"/v1/projects/{team.project_id}/screens")).json()["items"]) == 1


async def test_a_project_takes_only_so_many_screens_and_a_person_only_so_many_a_minute(site: Site, team: Team):
    editor, owner = await site.signed_in(team.editor), await site.signed_in(team.owner)
    path = f"/v1/projects/{team.project_id}/screens"
    screen = await make_screen(editor, team.project_id)
    with setting(site.services.settings.screens, most_per_project=1):
        for answer in (await editor.post(path, {}), await editor.post(f"/v1/screens/{screen['id']}/duplicate", {})):
            assert (answer.status, answer.code) == (409, "too_many_screens")
    with setting(site.services.settings.limits, screens_per_minute_per_user=1):
        refused = await editor.post(path, {})
    assert (refused.status, refused.code) == (429, "rate_limited")
    assert "screens a minute" in refused.json()["detail"]
    assert (await owner.post(path, {})).status == 201


async def test_everybody_in_the_project_sees_moves_as_they_happen(site: Site, team: Team):
    editor = await site.signed_in(team.editor)
    one, two = [await make_screen(editor, team.project_id) for _ in range(2)]
    async with (
        Watcher(site, team.viewer, team.project_id) as viewer,
        Watcher(site, team.owner, team.project_id) as owner,
    ):
        moves = [{"id": one["id"], "x": 50, "y": 60}, {"id": two["id"], "x": -9, "y": 7, "width": 400}]
        moved = await editor.call("PATCH", f"/v1/projects/{team.project_id}/screens", {"items": moves})
        assert [(item["x"], item["y"], item["width"]) for item in moved.json()["items"]] == [
            (50, 60, WIDTH),
            (-9, 7, 400),
        ]
        for watcher in (viewer, owner):
            seen = [await watcher.next("screen.updated") for _ in range(2)]
            places = {data["screen"]["id"]: (data["screen"]["x"], data["screen"]["y"]) for data in seen}
            assert places == {one["id"]: (50, 60), two["id"]: (-9, 7)}
            assert {data["by"] for data in seen} == {team.editor.user_id}


async def test_several_screens_move_together_or_not_at_all(site: Site, team: Team):
    editor = await site.signed_in(team.editor)
    other = await site.services.db.write(Team)
    mine, foreign = (
        await make_screen(editor, team.project_id),
        await make_screen(await site.signed_in(other.editor), other.project_id),
    )
    path = f"/v1/projects/{team.project_id}/screens"
    for wrong in (foreign["id"], "scr_none"):
        moves = [{"id": mine["id"], "x": 5, "y": 5}, {"id": wrong, "x": 5, "y": 5}]
        answer = await editor.call("PATCH", path, {"items": moves})
        assert (answer.status, answer.code) == (404, "not_found")
    twice = await editor.call("PATCH", path, {"items": [{"id": mine["id"], "x": 1, "y": 1}] * 2})
    assert twice.status == 400
    assert (await editor.get(f"/v1/screens/{mine['id']}")).json()["x"] == mine["x"]


async def test_a_change_that_changes_nothing_is_not_told(site: Site, team: Team):
    editor = await site.signed_in(team.editor)
    screen = await make_screen(editor, team.project_id, title="A")
    before = await log_seq(editor, team.project_id)
    await editor.call("PATCH", f"/v1/screens/{screen['id']}", {"x": screen["x"], "y": screen["y"]})
    await editor.call("PATCH", f"/v1/screens/{screen['id']}", {})
    assert await log_seq(editor, team.project_id) == before


async def test_a_title_is_the_conversations_title_too(site: Site, team: Team):
    editor = await site.signed_in(team.editor)
    screen = await make_screen(editor, team.project_id)
    path, thread = f"/v1/screens/{screen['id']}", f"/v1/threads/{screen['thread_id']}"
    await editor.call("PATCH", path, {"title": "  Sign \n in "})
    assert (await editor.get(thread)).json()["title"] == "Sign in"
    await editor.call("PATCH", thread, {"title": "Log in"})
    assert (await editor.get(path)).json()["title"] == "Log in"


async def test_the_state_follows_the_threads_runs(site: Site, team: Team):
    editor = await site.signed_in(team.editor)
    screen = await make_screen(editor, team.project_id)
    async with Watcher(site, team.viewer, team.project_id) as viewer:
        started = await editor.post(f"/v1/threads/{screen['thread_id']}/runs", {"content": "A page"})
        seen = (await viewer.next("screen.updated"))["screen"]
        assert (seen["state"], seen["active_run_id"]) == ("working", started.json()["run_id"])
        assert (await editor.get(f"/v1/screens/{screen['id']}")).json()["state"] == "working"


async def test_a_busy_screen_is_not_deleted_and_its_thread_never_alone(site: Site, team: Team):
    owner = await site.signed_in(team.owner)
    screen = await make_screen(owner, team.project_id)
    path, thread = f"/v1/screens/{screen['id']}", f"/v1/threads/{screen['thread_id']}"
    for answer in (await owner.call("DELETE", thread), await owner.post(f"{thread}/archive")):
        assert (answer.status, answer.code) == (409, "thread_of_screen")
        assert answer.json()["fields"]["screen_id"] == screen["id"]
    await owner.post(f"{thread}/runs", {"content": "A page"})
    assert (await owner.call("DELETE", path)).code == "thread_busy"


async def test_deleting_a_screen_takes_its_thread_and_files_along(site: Site, team: Team):
    owner = await site.signed_in(team.owner)
    screen = await make_screen(owner, team.project_id)
    async with Watcher(site, team.viewer, team.project_id) as viewer:
        assert (await owner.call("DELETE", f"/v1/screens/{screen['id']}")).status == 204
        assert await viewer.next("screen.deleted") == {"screen_id": screen["id"]}
    for path in (f"/v1/screens/{screen['id']}", f"/v1/threads/{screen['thread_id']}"):
        assert (await owner.get(path)).status == 404
    assert (await owner.call("DELETE", f"/v1/screens/{screen['id']}")).status == 404


async def test_deleting_a_project_takes_its_screens_along(site: Site, team: Team):
    owner = await site.signed_in(team.owner)
    screen = await make_screen(owner, team.project_id)
    assert (await owner.call("DELETE", f"/v1/projects/{team.project_id}")).status == 204
    assert (await owner.get(f"/v1/screens/{screen['id']}")).status == 404


async def test_a_copy_has_files_conversation_and_theme_and_lies_beside(site: Site, team: Team):
    editor = await site.signed_in(team.editor)
    screen = await make_screen(editor, team.project_id, title="Shop", theme="forest")
    await site.services.db.write(say, screen["thread_id"], team.editor, "make a shop")
    answer = await editor.post(f"/v1/screens/{screen['id']}/duplicate", {}, idempotency_key="copy")
    again = await editor.post(f"/v1/screens/{screen['id']}/duplicate", {}, idempotency_key="copy")
    copy = answer.json()
    assert again.json()["id"] == copy["id"]
    assert (copy["title"], copy["theme"]) == ("Shop (copy)", "forest")
    assert (copy["x"], copy["y"]) == (screen["x"] + WIDTH + GAP, screen["y"])
    assert copy["workspace_id"] != screen["workspace_id"]
    messages = (await editor.get(f"/v1/threads/{copy['thread_id']}/messages")).json()["items"]
    assert [part["text"] for message in messages for part in message["parts"]] == ["make a shop"]
    assert await contents(editor, copy["id"]) == await contents(editor, screen["id"])
    placed = await editor.post(f"/v1/screens/{screen['id']}/duplicate", {"x": -5, "y": 9})
    assert (placed.json()["x"], placed.json()["y"]) == (-5, 9)


async def test_a_screen_without_a_word_can_be_copied(site: Site, team: Team):
    editor = await site.signed_in(team.editor)
    screen = await make_screen(editor, team.project_id)
    copy = (await editor.post(f"/v1/screens/{screen['id']}/duplicate")).json()
    assert await contents(editor, copy["id"]) == await contents(editor, screen["id"])
    assert copy["state"] == "new"


async def test_forking_a_screens_thread_makes_a_screen_with_the_files_of_then(site: Site, team: Team):
    editor = await site.signed_in(team.editor)
    screen = await make_screen(editor, team.project_id)
    first = await site.services.db.write(say, screen["thread_id"], team.editor, "one")
    await site.services.db.write(say, screen["thread_id"], team.editor, "two")
    await editor.call("PATCH", f"/v1/screens/{screen['id']}", {"theme": "paper"})
    fork = await editor.post(f"/v1/threads/{screen['thread_id']}/fork", {"message_id": first})
    whole = await editor.post(f"/v1/threads/{screen['thread_id']}/fork")
    assert fork.status == whole.status == 201
    forked, copied = [(await editor.get(f"/v1/screens/{one.json()['anchor']['id']}")).json() for one in (fork, whole)]
    assert fork.json()["title"].startswith('Fork of "')
    assert fork.json()["message_count"] == 1
    assert fork.json()["parent_thread_id"] == screen["thread_id"]
    original = await contents(editor, screen["id"])
    assert await contents(editor, copied["id"]) == original
    assert (await contents(editor, forked["id"]))["app/globals.css"] != original["app/globals.css"]


async def test_a_screens_thread_is_not_made_without_its_screen(site: Site, team: Team):
    editor = await site.signed_in(team.editor)
    for path, body in (
        (f"/v1/projects/{team.project_id}/threads", {}),
        ("/v1/runs", {"content": "a page", "project_id": team.project_id}),
    ):
        answer = await editor.post(path, {**body, "profile": "screen"})
        assert (answer.status, answer.code) == (400, "malformed_input")
        assert "/screens" in answer.json()["hint"]


async def test_threads_of_screens_are_listed_with_their_screen(site: Site, team: Team):
    editor = await site.signed_in(team.editor)
    screen = await make_screen(editor, team.project_id)
    path = f"/v1/projects/{team.project_id}/threads"
    every, only, chats = [
        {one["id"] for one in (await editor.get(f"{path}{query}")).json()["items"]}
        for query in ("", "?profile=screen", "?profile=chat")
    ]
    assert only == {screen["thread_id"]}
    assert every == only | chats
    assert team.thread_id in chats


@contextmanager
def setting(section: object, **values: Any) -> Iterator[None]:
    """Settings of another value for a while, although they are frozen."""
    before = {name: getattr(section, name) for name in values}
    for name, value in values.items():
        object.__setattr__(section, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            object.__setattr__(section, name, value)


async def contents(browser: Browser, screen_id: str) -> dict[str, bytes]:
    listed = (await browser.get(f"/v1/screens/{screen_id}/files")).json()["items"]
    return {
        one["path"]: (await browser.get(f"/v1/screens/{screen_id}/files/content?path={one['path']}")).body
        for one in listed
    }

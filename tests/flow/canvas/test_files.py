"""The files of a screen over HTTP, while nothing of it is awake: listed, read, searched, packed up, compared."""

from __future__ import annotations

import io
import zipfile
from typing import Any

from outlast.apps.screens.store import update
from outlast.db.database import Tx
from outlast.kernel.sandboxes.checkpoints.keeper import CheckpointKeeper
from outlast.kernel.sandboxes.checkpoints.store import bind
from tests.asgi import Browser
from tests.factories import Team, make_run, say
from tests.flow.canvas.conftest import make_screen
from tests.flow.http.conftest import Site
from tests.templates import PAGE


async def write(site: Site, screen: dict[str, Any], files: dict[str, bytes | None]) -> None:
    """What code running in the sandbox does: files appear in the workspace's folder (None: they go)."""
    keeper = keeper_of(site)
    await keeper.bring_back(screen["workspace_id"])
    folder = keeper._folder(screen["workspace_id"])
    for path, content in files.items():
        target = folder / path
        if content is None:
            target.unlink()
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


async def work(site: Site, team: Team, screen: dict[str, Any], *steps: dict[str, bytes | None]) -> tuple[str, str]:
    """A run that wrote these files, a checkpoint after each step, and answered. (its id, its answer's)."""
    run_id = await site.services.db.write(make_run, screen["thread_id"], team.editor, status="completed", leg="ended")
    for files in steps:
        await write(site, screen, files)
        await keeper_of(site).take(screen["workspace_id"], "tool", run_id=run_id)
    answer = await site.services.db.write(say, screen["thread_id"], None, "done")
    await site.services.db.write(bind, run_id, answer)
    return run_id, answer


async def test_what_is_installed_cached_or_built_is_no_file_of_the_app(site: Site, team: Team):
    browser, screen = await scene(site, team)
    await write(site, screen, {"node_modules/a/index.js": b"x", ".next/b.js": b"x", "app/new.tsx": b"new"})
    listed = (await browser.get(f"/v1/screens/{screen['id']}/files")).json()
    assert [one["path"] for one in listed["items"]] == [
        "app/globals.css",
        "app/new.tsx",
        "app/page.tsx",
        "components/ui/button.tsx",
        "package.json",
    ]
    assert {"path": "app/page.tsx", "size": len(PAGE)} in listed["items"]
    newest = (await browser.get(f"/v1/screens/{screen['id']}/checkpoints")).json()["items"][0]
    assert listed["checkpoint_id"] == newest["id"]
    assert (await browser.get(f"/v1/screens/{screen['id']}/files/content?path=app/new.tsx")).body == b"new"


async def test_a_file_is_a_download_and_never_a_page_of_this_origin(site: Site, team: Team):
    browser, screen = await scene(site, team)
    await write(site, screen, {"public/evil.html": b"<script>alert(1)</script>"})
    answer = await browser.get(f"/v1/screens/{screen['id']}/files/content?path=public/evil.html")
    assert answer.header("content-type").startswith("text/plain")
    assert answer.header("content-disposition").startswith("attachment")
    assert "sandbox" in answer.header("content-security-policy")


async def test_paths_that_lead_elsewhere_are_refused(site: Site, team: Team):
    browser, screen = await scene(site, team)
    for path, code in (
        ("/etc/passwd", "path_refused"),
        ("../secret", "path_refused"),
        ("app", "path_refused"),
        ("none.tsx", "not_found"),
    ):
        assert (await browser.get(f"/v1/screens/{screen['id']}/files/content?path={path}")).code == code


async def test_a_search_finds_lines_whatever_the_case_and_says_where(site: Site, team: Team):
    browser, screen = await scene(site, team)
    await write(site, screen, {"data.bin": b"hello\0", "long.txt": b"hello " * 400_000, "node_modules/a.js": b"hello"})
    found = (await browser.get(f"/v1/screens/{screen['id']}/search?q=HELLO")).json()
    assert [(hit["path"], hit["line"]) for hit in found["items"]] == [
        ("app/page.tsx", 2),
        ("components/ui/button.tsx", 2),
    ]
    assert found["items"][0]["text"] == "  return <main>Hello</main>"
    assert found["truncated"] is False
    one = (await browser.get(f"/v1/screens/{screen['id']}/search?q=hello&limit=1")).json()
    assert (len(one["items"]), one["truncated"]) == (1, True)
    for query in ("q=%20", "q=", f"q={'x' * 300}", "q=a%0Ab"):
        assert (await browser.get(f"/v1/screens/{screen['id']}/search?{query}")).status == 400


async def test_the_archive_has_the_apps_own_files_and_no_secret(site: Site, team: Team):
    browser, screen = await scene(site, team, title="Pricing – page!")
    hidden = {
        ".env.local": b"KEY=1",
        ".env": b"KEY=1",
        ".npmrc": b"//registry/:_authToken=1",
        "certs/site.pem": b"k",
        "node_modules/a.js": b"x",
        "npm-debug.log": b"x",
        "tsconfig.tsbuildinfo": b"x",
    }
    await write(site, screen, {**hidden, ".env.example": b"KEY="})
    answer = await browser.get(f"/v1/screens/{screen['id']}/archive")
    again = await browser.get(f"/v1/screens/{screen['id']}/archive")
    assert answer.header("content-type") == "application/zip"
    assert answer.header("content-disposition") == 'attachment; filename="pricing-page.zip"'
    with zipfile.ZipFile(io.BytesIO(answer.body)) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == [
            f"pricing-page/{path}"
            for path in (".env.example", "app/globals.css", "app/page.tsx", "components/ui/button.tsx", "package.json")
        ]
        assert archive.read("pricing-page/app/page.tsx") == PAGE
    assert again.body == answer.body


async def test_what_a_run_changed_is_told_from_what_it_found_to_what_it_left(site: Site, team: Team):
    browser, screen = await scene(site, team)
    await write(site, screen, {"notes.md": b"by hand"})
    await keeper_of(site).take(screen["workspace_id"], "person")
    first, _ = await work(
        site, team, screen, {"app/page.tsx": b"one"}, {"app/page.tsx": b"two", "logo.png": b"\x89PNG\0"}
    )
    second, _ = await work(site, team, screen, {"notes.md": None})
    changes = (await browser.get(f"/v1/screens/{screen['id']}/changes?run={first}")).json()
    assert [(one["path"], one["status"]) for one in changes["items"]] == [
        ("app/page.tsx", "changed"),
        ("logo.png", "added"),
    ]
    page, logo = changes["items"]
    assert (page["before"], page["after"]) == (PAGE.decode(), "two")
    assert (logo["before"], logo["after"], logo["before_bytes"], logo["after_bytes"]) == (None, None, None, 5)
    assert changes["before"]["reason"] == "person"
    assert changes["after"]["run_id"] == first
    last = (await browser.get(f"/v1/screens/{screen['id']}/changes")).json()
    assert last["run_id"] == second
    assert [(one["path"], one["status"], one["before"]) for one in last["items"]] == [
        ("notes.md", "removed", "by hand")
    ]


async def test_a_run_that_changed_nothing_or_is_of_another_screen(site: Site, team: Team):
    browser, screen = await scene(site, team)
    nothing: dict[str, Any] = {"before": None, "after": None, "items": [], "truncated": False}
    assert (await browser.get(f"/v1/screens/{screen['id']}/changes")).json() == {"run_id": None, **nothing}
    idle = await site.services.db.write(make_run, screen["thread_id"], team.editor, status="error", leg="ended")
    path = f"/v1/screens/{screen['id']}/changes?run="
    assert (await browser.get(f"{path}{idle}")).json() == {"run_id": idle, **nothing}
    _, other = await scene(site, await site.services.db.write(Team))
    foreign, _ = await work(site, team, other, {"a.txt": b"a"})
    assert (await browser.get(f"{path}{foreign}")).code == "not_found"


async def test_a_copied_conversation_brings_its_changes_along(site: Site, team: Team):
    browser, screen = await scene(site, team)
    await site.services.db.write(say, screen["thread_id"], team.editor, "make it")
    run_id, answer = await work(site, team, screen, {"app/page.tsx": b"one"})
    await work(site, team, screen, {"app/page.tsx": b"two"})
    fork = await browser.post(f"/v1/threads/{screen['thread_id']}/fork", {"message_id": answer})
    copy_id = fork.json()["anchor"]["id"]
    page = await browser.get(f"/v1/screens/{copy_id}/files/content?path=app/page.tsx")
    assert page.body == b"one"
    listed = (await browser.get(f"/v1/screens/{copy_id}/checkpoints")).json()["items"]
    assert listed[0]["reason"] == "fork"
    assert run_id


async def test_an_earlier_state_of_a_screen_can_be_brought_back(site: Site, team: Team):
    browser, screen = await scene(site, team)
    await work(site, team, screen, {"app/page.tsx": b"one"})
    listed = (await browser.get(f"/v1/screens/{screen['id']}/checkpoints")).json()["items"]
    assert [one["reason"] for one in listed] == ["tool", "template"]
    restored = await browser.post(f"/v1/checkpoints/{listed[-1]['id']}/restore")
    assert restored.status == 200
    page = await browser.get(f"/v1/screens/{screen['id']}/files/content?path=app/page.tsx")
    assert page.body == PAGE


async def test_a_screen_brought_back_keeps_its_present_theme(site: Site, team: Team):
    browser, screen = await scene(site, team)
    path = f"/v1/screens/{screen['id']}"
    await site.services.db.write(find_problems, screen["id"])
    await browser.call("PATCH", path, {"theme": "claude"})
    styles = (await browser.get(f"{path}/files/content?path=app/globals.css")).body
    first = (await browser.get(f"{path}/checkpoints")).json()["items"][-1]
    restored = await browser.post(f"/v1/checkpoints/{first['id']}/restore")
    assert restored.json()["reason"] == "person"
    assert (await browser.get(f"{path}/files/content?path=app/globals.css")).body == styles
    assert (await browser.get(path)).json()["problems"] == []


async def test_a_theme_is_written_into_the_files_of_a_sleeping_screen(site: Site, team: Team):
    browser, screen = await scene(site, team)
    path = f"/v1/screens/{screen['id']}"
    await write(site, screen, {"app/globals.css": b"@import 'tailwindcss';\n.mine { color: red }\n"})
    tokens = {"light": {"primary": "#ff0000"}, "dark": {"primary": "rebeccapurple", "radius": "3px"}}
    changed = await browser.call("PATCH", path, {"theme_tokens": tokens})
    assert changed.json()["theme"] == "custom"
    assert changed.json()["theme_tokens"] == tokens
    styles = (await browser.get(f"{path}/files/content?path=app/globals.css")).body.decode()
    assert styles.startswith("@import 'tailwindcss';\n.mine { color: red }\n")
    assert "--primary: #ff0000;" in styles
    assert "--primary: rebeccapurple;" in styles
    newest = (await browser.get(f"{path}/checkpoints")).json()["items"][0]
    assert newest["reason"] == "person"
    back = await browser.call("PATCH", path, {"theme": "vercel"})
    assert (back.json()["theme"], back.json()["theme_tokens"]) == ("vercel", None)


async def test_a_theme_chosen_while_a_run_works_is_stored_and_waits(site: Site, team: Team):
    browser, screen = await scene(site, team)
    path = f"/v1/screens/{screen['id']}"
    before = (await browser.get(f"{path}/files/content?path=app/globals.css")).body
    await browser.post(f"/v1/threads/{screen['thread_id']}/runs", {"content": "A page"})
    changed = await browser.call("PATCH", path, {"theme": "solar"})
    assert (changed.status, changed.json()["theme"]) == (200, "solar")
    assert (await browser.get(f"{path}/files/content?path=app/globals.css")).body == before


def find_problems(tx: Tx, /, screen_id: str) -> None:
    update(tx, screen_id, problems=["app/page.tsx:1 …"])


async def scene(site: Site, team: Team, **body: Any) -> tuple[Browser, dict[str, Any]]:
    browser = await site.signed_in(team.editor)
    return browser, await make_screen(browser, team.project_id, **body)


def keeper_of(site: Site) -> CheckpointKeeper:
    assert site.services.sandboxes.checkpoints is not None
    return site.services.sandboxes.checkpoints

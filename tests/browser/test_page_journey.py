"""The whole way of a newcomer without a key: a page is asked for, built of what a real API answers, used by clicks,
taken back, asked again with saved code, and still there after the server was killed.

Real server without any configuration, real sandbox, the demo's own issues tracker. The pictures in docs/images are this
test's: run it with OUTLAST_PICTURES naming that folder.
"""

from __future__ import annotations

import json
import os
import re
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import FrameLocator, Locator, Page, expect

from tests.browser.canvas import make_project
from tests.browser.conftest import WEB, OpenPage, Server
from tests.browser.pages import say

pytestmark = pytest.mark.browser

DESKTOP = {"viewport": {"width": 1440, "height": 900}, "color_scheme": "dark"}
PAGE_URL = re.compile(r"/pages/pag\w*_\w+$")
RUN_MS = 120_000
HALF_WRITTEN = "Half a thought, still being written"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """One of its own: the demo's tracker begins as it is seeded, also when the test is tried again."""
    if not WEB.is_file():
        pytest.skip("the web app is not built; `make setup` builds it")
    running = Server(tmp_path)
    running.start()
    yield running
    running.end()


@pytest.mark.timeout(600)
def test_a_newcomer_has_a_page_built_from_a_real_api_and_works_with_it(open_page: OpenPage, server: Server) -> None:
    project = make_project(server, "Journey")
    page = open_page(f"/projects/{project}/pages", **DESKTOP)
    page_id, shown = _ask_for_my_issues(page)
    thread = server.get(f"/v1/pages/{page_id}")["thread_id"]
    assert _tools(server, thread)[0] == "search_docs"
    assert "run_code" in _tools(server, thread)
    _picture(page, "page-built")

    _close_an_issue(page, shown, server)
    _picture(page, "page-clicked")
    _see_a_chart_and_take_it_back(page, shown, server, page_id)
    _read_what_ran(page)
    _keep_the_code(page, shown, server, page_id)
    _look_into_the_documentation(page, project)
    _survive_a_kill(page, server, page_id)
    _find_the_secret_nowhere_else(server, page_id, thread)


def _ask_for_my_issues(page: Page) -> tuple[str, FrameLocator]:
    say(page, "Show my open issues")
    page.wait_for_url(PAGE_URL)
    shown = _frame(page)
    expect(shown.locator("#issue-ATL-7")).to_be_visible(timeout=RUN_MS)
    _idle(page)
    expect(shown.get_by_role("heading", level=1)).to_have_text("My open issues")
    expect(shown.locator("#issue-list > li")).to_have_count(8)
    expect(shown.locator("#count-open")).to_have_text("8")
    activity = page.get_by_role("tabpanel", name="Activity")
    expect(activity.get_by_text("First I'll look up the API in its documentation.")).to_be_visible()
    return page.url.rsplit("/", 1)[1], shown


def _close_an_issue(page: Page, shown: FrameLocator, server: Server) -> None:
    """The click changes the tracker and a few elements; what somebody is typing elsewhere on the page stays."""
    title = shown.get_by_role("textbox", name="Title")
    title.fill(HALF_WRITTEN)
    shown.get_by_role("button", name="Close ATL-7").click()
    expect(shown.locator("#title-ATL-7")).to_have_class("done", timeout=RUN_MS)
    expect(shown.locator("#count-open")).to_have_text("7")
    expect(title).to_have_value(HALF_WRITTEN)
    assert _issue(server, "ATL-7")["status"] == "done"
    _idle(page)
    done = page.get_by_role("list", name="Actions on the page")
    expect(done.get_by_text("close: issue ATL-7")).to_be_visible()


def _see_a_chart_and_take_it_back(page: Page, shown: FrameLocator, server: Server, page_id: str) -> None:
    shown.get_by_role("button", name="Chart").click()
    expect(shown.locator("#summary-total")).to_have_text("7", timeout=RUN_MS)
    _idle(page)
    _picture(page, "page-chart")
    with_chart = server.get(f"/v1/pages/{page_id}")["version"]
    page.get_by_role("button", name="Undo last changes").click()
    expect(shown.locator("#summary")).to_have_count(0)
    expect(shown.locator("#title-ATL-7")).to_have_class("done")
    page.get_by_role("tab", name="History").click()
    history = page.get_by_role("tabpanel", name="History")
    expect(history.get_by_text("Went back to version").first).to_be_visible()
    expect(history.get_by_text("ATL-7 is done now")).to_be_visible()
    assert "summary-total" in server.get(f"/v1/pages/{page_id}/versions/{with_chart}")["html"]
    _picture(page, "page-history")


def _read_what_ran(page: Page) -> None:
    page.get_by_role("tab", name="Code").click()
    code = page.get_by_role("tabpanel", name="Code")
    expect(code.locator("[data-tool=search_docs]").first).to_be_visible()
    ran = code.locator("[data-tool=run_code]").first
    expect(ran).to_be_visible()
    expect(ran.get_by_text("countIssues").first).to_be_visible()
    expect(ran.get_by_text("ISSUES_TOKEN").first).to_be_visible()  # by its name, never its value
    _picture(page, "page-code")


def _keep_the_code(page: Page, shown: FrameLocator, server: Server, page_id: str) -> None:
    """The code becomes a module, and the next request imports it instead of looking it up again."""
    say(page, "Save that as a module")
    modules = page.get_by_role("region", name="Modules")
    expect(modules.get_by_text("lib/issues.ts", exact=True)).to_be_visible(timeout=RUN_MS)
    _idle(page)
    searched = _count(server, page_id, "search_docs")
    say(page, "Show the issues of Harbor")
    expect(shown.get_by_role("heading", level=1)).to_have_text("Open issues in Harbor", timeout=RUN_MS)
    _idle(page)
    assert _count(server, page_id, "search_docs") == searched
    newest = server.get(f"/v1/pages/{page_id}/code")["items"][0]
    assert 'import("./lib/issues.ts")' in newest["code"]
    expect(shown.get_by_role("textbox", name="Title")).to_have_value(HALF_WRITTEN)


def _look_into_the_documentation(page: Page, project: str) -> None:
    """What the agent searched lies open: the package, its passages, and what a query finds."""
    back = page.url
    page.goto(f"/projects/{project}/knowledge")
    expect(page.get_by_role("article", name="Package issues-tracker")).to_be_visible()
    page.get_by_label("Test a query").fill("how do I close an issue")
    hits = page.get_by_role("region", name="Results")
    expect(hits.get_by_text("Change an issue", exact=False).first).to_be_visible()
    _picture(page, "page-knowledge")
    page.goto(back)


def _survive_a_kill(page: Page, server: Server, page_id: str) -> None:
    """The page, its code and the tracker's address outlive the server."""
    server.kill()
    server.start()
    page.reload()
    shown = _frame(page)
    expect(shown.get_by_role("heading", level=1)).to_have_text("Open issues in Harbor")
    closing: Locator = shown.get_by_role("button", name="Close HAR-1")
    closing.click()
    expect(shown.locator("#title-HAR-1")).to_have_class("done", timeout=RUN_MS)
    assert _issue(server, "HAR-1")["status"] == "done"
    _idle(page)


def _find_the_secret_nowhere_else(server: Server, page_id: str, thread: str) -> None:
    """It arrived at the tracker, and lies nowhere else: not in files, databases, logs, events, exports or pages."""
    demo = server.folder / "data" / "demo"
    secret = (demo / "secret").read_bytes().strip()
    assert secret in (demo / "requests.log").read_bytes()
    known = {demo / "secret", demo / "requests.log"}
    found = [path for path in _files(server.folder) if path not in known and secret in _bytes(path)]
    assert found == []
    for run in server.get(f"/v1/runs?thread={thread}")["items"]:
        assert secret not in _read(server, f"/v1/runs/{run['id']}/export")
    for path in ("", "/code", "/versions", "/modules"):
        assert secret not in _read(server, f"/v1/pages/{page_id}{path}")
    sandbox = server.get(f"/v1/pages/{page_id}")["sandbox_id"]
    module = _read(server, f"/v1/sandboxes/{sandbox}/files/content?path=lib/issues.ts")
    assert b"ISSUES_TOKEN" in module
    assert secret not in module


def _frame(page: Page) -> FrameLocator:
    return page.frame_locator("iframe[data-page-frame]")


def _idle(page: Page) -> None:
    """Until the run has ended: another action would wait for it."""
    expect(page.get_by_role("button", name="Stop")).to_have_count(0, timeout=RUN_MS)


def _tools(server: Server, thread: str) -> list[str]:
    messages = server.get(f"/v1/threads/{thread}/messages")["items"]
    return [part["tool"] for one in messages for part in one["parts"] if part["type"] == "tool_call"]


def _count(server: Server, page_id: str, tool: str) -> int:
    items = server.get(f"/v1/pages/{page_id}/code?limit=100")["items"]
    return sum(item["tool"] == tool for item in items)


def _issue(server: Server, key: str) -> dict[str, Any]:
    """As the tracker has written it down."""
    kept = json.loads((server.folder / "data" / "demo" / "issues.json").read_bytes())
    return next(issue for issue in kept["issues"] if issue["key"] == key)


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # gone meanwhile
        return b""


def _read(server: Server, path: str) -> bytes:
    with urllib.request.urlopen(f"{server.url}{path}", timeout=30) as answer:
        return bytes(answer.read())


def _picture(page: Page, name: str) -> None:
    folder = os.environ.get("OUTLAST_PICTURES")
    if folder:
        page.screenshot(path=Path(folder) / f"{name}.png")

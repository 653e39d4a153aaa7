"""A development server in a sandbox, seen in Chromium through its preview."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser import vite
from tests.browser.conftest import OpenPage, Server

pytestmark = pytest.mark.browser
DEADLINE_S = 120
CONFIG = """
[sandbox]
[providers.demo]
kind = "demo"
delta_delay_s = 0.0
[[models]]
id = "demo"
provider = "demo"
name = "demo"
"""


class Project:
    """A thread whose sandbox runs Vite."""

    def __init__(self, server: Server) -> None:
        self.server = server
        run = server.post("/v1/runs", {"content": "Write a program about primes"})
        self.thread_id = run["thread_id"]
        self._until(lambda: server.get(f"/v1/runs/{run['run_id']}")["status"] == "completed")
        made = self.living()
        self.sandbox_id = made["id"]  # previews are found under it, also once another has replaced it
        self.folder: Path = server.folder / "data" / "workspaces" / made["workspace_id"]
        vite.place(self.folder)
        self._put_service()

    def living(self) -> dict[str, Any]:
        """The thread's sandbox as it is now."""
        project = self.server.get("/v1/me")["default_project_id"]
        listed = self.server.get(f"/v1/projects/{project}/sandboxes")["items"]
        found: dict[str, Any] = next(one for one in listed if one["thread_id"] == self.thread_id)
        return found

    def state(self) -> tuple[str, str | None]:
        sandbox = self.living()
        return sandbox["state"], sandbox["pause_kind"]

    def preview(self) -> dict[str, Any]:
        answer: dict[str, Any] = self.server.post(f"/v1/sandboxes/{self.sandbox_id}/preview", {"port": vite.PORT})
        return answer

    def act(self, verb: str) -> None:
        self.server.post(f"/v1/sandboxes/{self.living()['id']}/{verb}", {})

    def _put_service(self) -> None:
        path = f"/v1/sandboxes/{self.sandbox_id}/services/web"
        self.server.call("PUT", path, {"command": vite.COMMAND, "port": vite.PORT})

    def _until(self, holds: Any) -> None:
        deadline = time.monotonic() + DEADLINE_S
        while not holds():
            assert time.monotonic() < deadline


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One whose demo model does not take its time: only the sandbox it makes is of interest here."""
    running = Server(tmp_path_factory.mktemp("server"), configuration=CONFIG)
    running.start()
    yield running
    running.end()


@pytest.fixture(scope="module")
def project(server: Server) -> Project:
    return Project(server)


def shown(page: Page, text: str) -> None:
    expect(page.get_by_role("heading", name=text, exact=True)).to_be_visible(timeout=DEADLINE_S * 1000)


def test_vite_is_seen_with_hot_reload_and_wakes_when_visited(project: Project, open_page: OpenPage) -> None:
    vite.write_page(project.folder)
    preview = project.preview()
    page = open_page(preview["ticket_url"])
    shown(page, "Hello from inside")
    assert page.url == preview["url"]
    page.get_by_role("button", name="clicked 0").click()
    page.evaluate("window.same = true")

    vite.edit(project.folder, "Hello from inside", "Hello again")
    shown(page, "Hello again")
    expect(page.get_by_role("button", name="clicked 1")).to_be_visible()  # what was typed and clicked stays
    assert page.evaluate("window.same")  # nothing was loaded anew

    project.act("pause")
    assert project.state() == ("paused", "frozen")
    page.goto(preview["url"])
    shown(page, "Hello again")
    assert project.state() == ("ready", None)

    page.goto("about:blank")  # Vite's own page would load itself anew in between
    project.act("kill")
    page.goto(preview["url"])  # a new sandbox, with the service started again, under the old address
    shown(page, "Hello again")


def test_a_browser_that_was_not_let_in_is_shown_the_way(project: Project, open_page: OpenPage) -> None:
    page = open_page(project.preview()["url"])
    expect(page.get_by_role("heading", name="Open this preview from Outlast")).to_be_visible()
    link = page.get_by_role("link", name="Open it from Outlast")
    expect(link).to_have_attribute(
        "href", f"http://localhost:{project.server.port}/previews/{project.sandbox_id}/5173?to=%2F"
    )


def test_a_preview_cannot_use_the_api(project: Project, open_page: OpenPage) -> None:
    vite.write_page(project.folder)
    page = open_page(project.preview()["ticket_url"])
    shown(page, "Hello from inside")
    tried = page.evaluate(
        """async url => {
            const answers = [];
            for (const mode of ["cors", "no-cors"]) {
                try {
                    const answer = await fetch(url + "/v1/me", {mode, credentials: "include"});
                    answers.push(answer.type + answer.status);
                } catch (error) { answers.push("refused"); }
            }
            return answers;
        }""",
        project.server.url,
    )
    assert tried in (["refused", "opaque0"], ["refused", "refused"])


def test_the_preview_is_shown_beside_the_conversation(project: Project, open_page: OpenPage) -> None:
    vite.write_page(project.folder)
    page = open_page(f"/threads/{project.thread_id}", viewport={"width": 1400, "height": 900})
    page.get_by_role("button", name="Preview", exact=True).click()
    panel = page.get_by_role("region", name="Preview")
    expect(panel.get_by_role("button", name="Port: web · 5173")).to_be_visible()
    inside = panel.frame_locator("iframe")
    expect(inside.get_by_role("heading", name="Hello from inside")).to_be_visible(timeout=DEADLINE_S * 1000)
    vite.edit(project.folder, "Hello from inside", "Hello in a frame")
    expect(inside.get_by_role("heading", name="Hello in a frame")).to_be_visible()

    panel.get_by_role("button", name="Phone").click()
    assert panel.locator("iframe").evaluate("frame => frame.clientWidth") == 390
    project.act("pause")
    panel.get_by_role("button", name="Wake up").click()
    expect(inside.get_by_role("heading", name="Hello in a frame")).to_be_visible()
    expect(panel.get_by_role("button", name="Wake up")).to_have_count(0)

    with page.context.expect_page() as opened:
        panel.get_by_role("button", name="Open in a new tab").click()
    shown(opened.value, "Hello in a frame")
    panel.get_by_role("button", name="Close the preview").click()
    expect(panel).to_have_count(0)


def test_a_bookmarked_preview_is_opened_from_outlast(project: Project, open_page: OpenPage) -> None:
    vite.write_page(project.folder)
    page = open_page(project.preview()["url"])
    page.get_by_role("link", name="Open it from Outlast").click()
    shown(page, "Hello from inside")


def test_another_sites_page_cannot_show_a_preview(project: Project, open_page: OpenPage) -> None:
    vite.write_page(project.folder)
    page = open_page(project.preview()["ticket_url"])
    shown(page, "Hello from inside")
    address = page.url
    host = address.removeprefix("http://5173-").removesuffix("/")
    foreign = f"http://9999-{host}/"  # the same site to cookies, another origin to pages
    page.route(foreign, lambda route: route.fulfill(body="<iframe></iframe>", content_type="text/html"))
    page.goto(foreign)
    with page.expect_event("framenavigated", lambda frame: frame.url.startswith("chrome-error:")):
        page.locator("iframe").evaluate("(frame, address) => { frame.src = address }", address)

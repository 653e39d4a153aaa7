"""Screens whose apps run, in frames on the canvas: one is used at a time, and none of them swallows what is meant for
the canvas."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import memory_sandboxes
from tests.browser.canvas import drag, expect_at, is_move, make_project, make_row, open_canvas, place_of, screen, select
from tests.browser.conftest import WEB, OpenPage, Server

pytestmark = pytest.mark.browser

STILL: Any = {"reduced_motion": "reduce"}
CONFIG = """
[sandbox]
provider = "memory"
[limits]
screens_per_minute_per_user = 1000
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Its sandboxes are in memory: what they serve is text, and it is there at once."""
    if not WEB.is_file():
        pytest.skip("the web app is not built; `make setup` builds it")
    folder = tmp_path_factory.mktemp("frames")
    (folder / "outlast.toml").write_text(CONFIG)
    running = Server(folder, memory_sandboxes.install(folder / "packages"))
    running.start("--config", str(folder / "outlast.toml"))
    yield running
    running.end()


def frame_of(page: Page, screen_id: str) -> Locator:
    """Its app, once it is loaded."""
    return page.locator(f"iframe[data-live-frame='{screen_id}'][data-loaded]")


def interactive(page: Page) -> Locator:
    return page.locator("[data-interactive]")


def test_the_open_screen_is_live_and_only_one_is_used_at_a_time(open_page: OpenPage, server: Server) -> None:
    project = make_project(server, "Frames")
    one, other = make_row(server, project, 2)
    for each in (one, other):
        server.post(f"/v1/screens/{each}/open", {})
    page = open_page(**STILL)
    open_canvas(page, project, sidebar=False)
    select(page, one)
    expect(frame_of(page, one)).to_have_count(1)
    expect(page.locator("iframe")).to_have_count(1)
    expect(interactive(page)).to_have_count(0)  # selected is not used
    assert frame_of(page, one).evaluate("frame => getComputedStyle(frame).pointerEvents") == "none"

    screen(page, one).dblclick()
    expect(interactive(page)).to_have_attribute("data-screen", one)
    assert frame_of(page, one).evaluate("frame => getComputedStyle(frame).pointerEvents") == "auto"
    select(page, other)
    expect(interactive(page)).to_have_count(0)
    expect(frame_of(page, other)).to_have_count(1)
    expect(page.locator("iframe")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(interactive(page)).to_have_attribute("data-screen", other)
    page.locator("[data-canvas]").click(position={"x": 8, "y": 8})
    expect(interactive(page)).to_have_count(0)


def test_a_screen_is_dragged_by_its_live_app_and_the_app_lives_on(open_page: OpenPage, server: Server) -> None:
    project = make_project(server, "Dragged")
    one, other = make_row(server, project, 2)
    server.post(f"/v1/screens/{one}/open", {})
    page = open_page(**STILL)
    open_canvas(page, project, sidebar=False)
    select(page, one)
    expect(frame_of(page, one)).to_have_count(1)
    address = frame_of(page, one).get_attribute("src")
    before = place_of(server, one)
    with page.expect_response(is_move):
        drag(page, one, 30, 120)
    after = place_of(server, one)
    assert after.y - before.y > 60
    expect_at(page, one, after)
    # Another one is dragged across the app that is used: the app is left, and takes none of the moves.
    screen(page, one).dblclick()
    expect(interactive(page)).to_have_count(1)
    with page.expect_response(is_move):
        drag(page, other, -160, 60)
    expect(interactive(page)).to_have_count(0)
    assert frame_of(page, one).count() == 0 or frame_of(page, one).get_attribute("src") == address


def test_an_app_is_loaded_anew_and_opened_in_a_tab(open_page: OpenPage, server: Server) -> None:
    project = make_project(server, "Tabs")
    (one,) = make_row(server, project, 1)
    server.post(f"/v1/screens/{one}/open", {})
    page = open_page(f"/screens/{one}", **STILL)
    expect(frame_of(page, one)).to_have_count(1)
    address = str(frame_of(page, one).get_attribute("src"))
    page.get_by_role("button", name="Reload", exact=True).click()
    expect(page.locator("iframe")).not_to_have_attribute("src", address)
    expect(frame_of(page, one)).to_have_count(1)
    with page.context.expect_page() as opened:
        page.get_by_role("button", name="Open in a new tab").click()
    expect(opened.value).to_have_url(re.compile(r"\.preview\.localhost"))


def test_more_apps_stay_live_when_somebody_wants_them_to(open_page: OpenPage, server: Server) -> None:
    project = make_project(server, "More")
    one, other = make_row(server, project, 2)
    for each in (one, other):
        server.post(f"/v1/screens/{each}/open", {})
    page = open_page(**STILL)
    open_canvas(page, project, sidebar=False)
    page.get_by_role("button", name="Display options").click()
    page.get_by_role("menuitem", name="Last 2 opened").click()
    select(page, one)
    expect(frame_of(page, one)).to_have_count(1)
    select(page, other)
    for each in (one, other):
        expect(frame_of(page, each)).to_have_count(1)


def test_a_server_that_failed_says_why_and_the_agent_can_be_asked(open_page: OpenPage, server: Server) -> None:
    project = make_project(server, "Failed")
    (one,) = make_row(server, project, 1)
    server.post(f"/v1/screens/{one}/open", {})
    page = open_page(**STILL)

    def failed(route: Any) -> None:
        answer = route.fetch()
        listed = answer.json()
        for sandbox in listed["items"]:
            service = {"name": "dev", "port": 3000, "state": "failed", "error": "It ended with code 1.", "restarts": 3}
            sandbox |= {"state": "ready", "services": [service]}
        route.fulfill(response=answer, json=listed)

    page.route("**/sandboxes", failed)
    page.goto(f"/screens/{one}")
    trouble = page.get_by_role("alert").filter(has_text="The development server failed")
    expect(trouble).to_contain_text("It ended with code 1.")
    with page.expect_response(lambda one: one.request.method == "POST" and one.url.endswith("/runs")) as asked:
        trouble.get_by_role("button", name="Ask the agent to fix it").click()
    assert "is not running" in str(asked.value.request.post_data)

"""The page of memories: they are added, edited and deleted by hand, and a line of a run is found there."""

from __future__ import annotations

import urllib.request
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import OpenPage, Server

pytestmark = pytest.mark.browser
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest.fixture
def project_id(server: Server) -> str:
    """A new project."""
    found: str = server.post("/v1/projects", {"name": "Lamps"})["id"]
    return found


def memories(page: Page) -> Locator:
    return page.locator("[data-memory]")


def test_a_memory_is_added_edited_deleted_and_brought_back_while_another_window_watches(
    project_id: str, open_page: OpenPage
) -> None:
    page, other = open_page(f"/projects/{project_id}/memories"), open_page(f"/projects/{project_id}/memories")
    for window in (page, other):
        expect(window.get_by_role("tab", name="Yours")).to_have_attribute("aria-selected", "true")  # a private project
        window.get_by_role("tab", name="Project").click()
        expect(window.get_by_role("heading", name="No memories yet")).to_be_visible()
    page.get_by_role("button", name="Add memory").click()
    page.get_by_role("textbox", name="New memory").fill("We deploy on Fridays.")
    page.keyboard.press("Enter")
    for window in (page, other):
        expect(memories(window)).to_have_count(1)

    page.get_by_role("button", name="Edit memory").click()
    text = page.get_by_role("textbox", name="Memory", exact=True)
    text.fill("No")
    page.keyboard.press("Escape")
    expect(memories(page)).to_contain_text("We deploy on Fridays.")
    page.get_by_role("button", name="Edit memory").click()
    text.fill("We deploy on Mondays.")
    page.keyboard.press("Enter")
    for window in (page, other):
        expect(memories(window)).to_contain_text("We deploy on Mondays.")
        expect(memories(window)).to_contain_text("edited")

    page.get_by_role("button", name="Delete memory").click()
    for window in (page, other):
        expect(memories(window)).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    for window in (page, other):
        expect(memories(window)).to_contain_text("We deploy on Mondays.")


def test_a_secret_is_refused_and_the_text_stays_in_its_box(project_id: str, open_page: OpenPage) -> None:
    page = open_page(f"/projects/{project_id}/memories")
    page.get_by_role("button", name="Add memory").click()
    box = page.get_by_role("textbox", name="New memory")
    box.fill("The key is ghp_abcdefghijklmnopqrstuvwxyz0123456789")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("contains a key, a token or another secret")).to_be_visible()
    expect(box).to_have_value("The key is ghp_abcdefghijklmnopqrstuvwxyz0123456789")


def test_a_run_leaves_a_line_and_switches_stay_as_set_on_a_phone(
    project_id: str, server: Server, open_page: OpenPage
) -> None:
    thread = server.post(f"/v1/projects/{project_id}/threads", {})
    started = server.post(f"/v1/threads/{thread['id']}/runs", {"content": "Say hello"})
    with urllib.request.urlopen(f"{server.url}/v1/runs/{started['run_id']}/events?after=0", timeout=60) as stream:
        stream.read()  # it ends with the run
    page = open_page(f"/projects/{project_id}/memories", **PHONE)
    page.get_by_role("tab", name="Project").focus()
    page.keyboard.press("ArrowLeft")  # wraps around
    expect(page.get_by_role("tab", name="Runs")).to_have_attribute("aria-selected", "true")
    expect(memories(page)).to_contain_text("Say hello")
    with page.expect_response("**/memory-switches"):
        page.get_by_label("Memory in this project").uncheck()
    page.reload()
    expect(page.get_by_label("Memory in this project")).not_to_be_checked()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390

"""The page of sandboxes: empty, live, by mouse and by keyboard, on a phone."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage, Server
from tests.browser.pages import saved, start_thread

pytestmark = [pytest.mark.browser, pytest.mark.sandbox]
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
WEB = {"command": "exec python3 -m http.server --bind 127.0.0.1 $PORT", "port": 3000, "health_path": "/"}


@pytest.fixture
def sandbox(server: Server, open_page: OpenPage) -> str:
    """The id of a thread's sandbox; whatever else there was is gone."""
    project_id = server.get("/v1/me")["default_project_id"]
    for item in server.get(f"/v1/projects/{project_id}/sandboxes")["items"]:
        server.post(f"/v1/sandboxes/{item['id']}/kill", {})
    page = open_page()
    start_thread(page, "Write a program about primes")
    expect(saved(page)).to_be_visible()
    (item,) = server.get(f"/v1/projects/{project_id}/sandboxes")["items"]
    return str(item["id"])


def state_of(page: Page, sandbox_id: str, state: str) -> None:
    expect(page.locator(f"[data-sandbox={sandbox_id}][data-state={state}]")).to_be_visible()


def test_an_empty_list_says_what_to_do(server: Server, open_page: OpenPage) -> None:
    page = open_page()
    page.get_by_role("link", name="Sandboxes", exact=True).click()
    expect(page.get_by_role("heading", name="No sandboxes yet")).to_be_visible()
    page.get_by_role("link", name="Start a thread").click()
    expect(page.get_by_label("Message", exact=True)).to_be_visible()


def test_a_sandbox_is_seen_with_all_it_uses_paused_resumed_and_ended_while_another_watches(
    sandbox: str, server: Server, open_page: OpenPage
) -> None:
    page, other = open_page("/sandboxes"), open_page("/sandboxes")
    state_of(other, sandbox, "ready")
    card = page.locator(f"[data-sandbox={sandbox}]")
    for meter in ("Memory", "Disk", "Processes"):
        expect(card.get_by_role("meter", name=meter)).to_be_visible()
    clocks = card.locator("[data-clock]").evaluate_all("rows => rows.map(row => row.dataset.clock)")
    assert {"sandbox_pause", "sandbox_stop", "sandbox_kill"} <= set(clocks)
    card.get_by_role("button", name="Pause").click()
    state_of(other, sandbox, "frozen")
    expect(card.locator("[data-clock=sandbox_pause]")).to_have_count(0)
    card.get_by_role("button", name="Resume").click()
    state_of(other, sandbox, "ready")
    card.get_by_role("link", name="Write a program about primes").click()
    page.wait_for_url("**/threads/thr_*")
    page.go_back()
    card.get_by_role("button", name="Kill").click()
    page.get_by_role("button", name="Cancel").click()
    state_of(page, sandbox, "ready")
    card.get_by_role("button", name="Kill").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Kill").click()
    expect(other.locator(f"[data-sandbox={sandbox}]")).to_have_count(0)
    expect(other.get_by_role("heading", name="No sandboxes yet")).to_be_visible()


def test_services_are_seen_coming_up_with_their_logs(sandbox: str, server: Server, open_page: OpenPage) -> None:
    page = open_page("/sandboxes")
    state_of(page, sandbox, "ready")
    server.call("PUT", f"/v1/sandboxes/{sandbox}/services/web", WEB)
    expect(page.locator("[data-service=web][data-state=healthy]")).to_be_visible()
    page.get_by_role("button", name="Log of web").click()
    expect(page.get_by_role("tab", name="web", selected=True)).to_be_visible()
    expect(page.get_by_role("tabpanel")).to_contain_text("GET / HTTP/1.1")
    page.get_by_role("button", name="Close").click()
    expect(page.get_by_role("tabpanel")).to_have_count(0)


def test_it_can_be_used_by_keyboard_alone_on_a_phone(sandbox: str, open_page: OpenPage) -> None:
    page = open_page("/sandboxes", **PHONE)
    card = page.locator(f"[data-sandbox={sandbox}]")
    expect(card).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing lies beside the screen"
    card.get_by_role("button", name="Pause").focus()
    page.keyboard.press("Enter")
    state_of(page, sandbox, "frozen")
    card.get_by_role("button", name="Kill").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("alertdialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("alertdialog")).to_have_count(0)
    state_of(page, sandbox, "frozen")

"""The page of knowledge: sources are added, read, looked into, asked and removed, while another window watches."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.conftest import OpenPage, Server

pytestmark = pytest.mark.browser
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
ADD = re.compile("^Add (source|documentation)$")
HANDBOOK = """# Tracker

## Issues

### Create an issue

Call `createIssue` with a title. It answers with the **new issue**.

```ts
const issue = await tracker.createIssue({ title: 'Broken lamp' })
```

### Close an issue

Call `closeIssue` with the number of the issue.

## Webhooks

Your server is told about every change by a POST request.
"""


@pytest.fixture
def path(server: Server) -> str:
    """The page of a new project."""
    project = server.post("/v1/projects", {"name": "Lamps"})
    return f"/projects/{project['id']}/knowledge"


def add_text(page: Page, name: str, text: str) -> None:
    page.get_by_role("button", name=ADD).click()
    dialog = page.get_by_role("dialog", name="Add documentation")
    dialog.get_by_role("radio", name="Text").click()
    dialog.get_by_label("Package or subject").fill(name)
    dialog.get_by_label("Text", exact=False).last.fill(text)
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(dialog).to_have_count(0)


def package(page: Page, name: str) -> Locator:
    return page.get_by_role("article", name=f"Package {name}")


def own_source(card: Locator) -> Locator:
    return card.locator("[data-source]").first


def test_a_text_is_added_looked_into_found_and_removed_while_another_window_watches(
    path: str, server: Server, open_page: OpenPage
) -> None:
    page, other = open_page(path), open_page(path)
    page.get_by_role("link", name="Knowledge", exact=True).wait_for()
    add_text(page, "tracker-handbook", HANDBOOK)
    for window in (page, other):
        card = package(window, "tracker-handbook")
        expect(card.locator("[data-source][data-state=ready]")).to_be_visible()
    expect(page.locator("[data-embedder='']")).to_contain_text("no embedder is configured")

    card = package(page, "tracker-handbook")
    card.get_by_role("button", name="Passages of").click()
    passages = page.get_by_role("dialog").get_by_role("list", name="Passages")
    expect(passages.get_by_text("Tracker › Issues › Create an issue", exact=False)).to_be_visible()
    page.get_by_role("dialog").get_by_role("button", name="Close").click()

    page.get_by_role("searchbox", name="Test a query").fill("how do I create issues?")
    first = page.locator("[data-hit]").first
    expect(first.get_by_role("heading")).to_contain_text("Create an issue")
    expect(first.locator("mark", has_text="createIssue").first).to_be_visible()
    expect(first.get_by_role("list", name="Scores by method")).to_contain_text("words")
    expect(page.get_by_text("used words only")).to_be_visible()
    page.get_by_role("searchbox", name="Test a query").fill("xylophone")
    expect(page.get_by_role("heading", name="No results")).to_be_visible()
    page.keyboard.press("Escape")

    own_source(card).get_by_role("button", name="Remove").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Remove", exact=True).click()
    for window in (page, other):
        expect(package(window, "tracker-handbook")).to_have_count(0)


def test_an_answer_that_comes_late_does_not_undo_what_was_told_meanwhile(path: str, open_page: OpenPage) -> None:
    page, other = open_page(path), open_page(path)
    expect(page.get_by_role("heading", name="Knowledge", exact=True)).to_be_visible()

    def failed(window: Page) -> Locator:
        return window.locator("[data-source][data-state=failed]")  # also behind the dialog

    def hold(route: Route) -> None:
        answer = route.fetch()
        expect(failed(other)).to_be_visible()
        expect(failed(page)).to_be_visible()
        route.fulfill(response=answer)

    page.route("**/v1/knowledge/sources", hold)
    page.get_by_role("button", name=ADD).click()
    dialog = page.get_by_role("dialog", name="Add documentation")
    dialog.get_by_label("Package or subject").fill("unreachable")
    dialog.get_by_label("Address").last.fill("https://docs.outlast.invalid/llms.txt")
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(dialog).to_have_count(0)
    expect(failed(page)).to_be_visible()


def test_an_address_that_cannot_be_read_says_why_and_offers_another_try(path: str, open_page: OpenPage) -> None:
    page = open_page(path)
    add_text(page, "tracker-handbook", HANDBOOK)
    page.get_by_role("button", name=ADD).click()
    dialog = page.get_by_role("dialog", name="Add documentation")
    dialog.get_by_label("Package or subject").fill("unreachable")
    dialog.get_by_label("Address").last.fill("http://127.0.0.1:9/llms.txt")
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("127.0.0.1 is a private address")
    dialog.get_by_label("Address").last.fill("https://docs.outlast.invalid/llms.txt")
    dialog.get_by_role("button", name="Add", exact=True).click()
    card = package(page, "unreachable")
    expect(card.locator("[data-source][data-state=failed]")).to_be_visible()
    expect(card.get_by_role("alert")).to_contain_text("cannot be reached")
    expect(card.get_by_role("button", name="Try again")).to_be_enabled()


def test_a_file_is_added_and_its_package_searched_alone_on_a_phone(path: str, open_page: OpenPage) -> None:
    page = open_page(path, **PHONE)
    page.get_by_role("button", name=ADD).click()
    dialog = page.get_by_role("dialog", name="Add documentation")
    dialog.get_by_role("radio", name="File").click()
    dialog.get_by_label("Package or subject").fill("handbook")
    dialog.get_by_label("File", exact=True).set_input_files(
        {"name": "handbook.md", "mimeType": "text/markdown", "buffer": HANDBOOK.encode()}
    )
    dialog.get_by_role("button", name="Add", exact=True).click()
    card = package(page, "handbook")
    expect(card.locator("[data-source][data-state=ready]")).to_be_visible()
    card.get_by_role("button", name="Search in it").click()
    expect(page.get_by_role("combobox", name="Package")).to_have_value("handbook")
    page.get_by_role("searchbox", name="Test a query").fill("webhooks")
    expect(page.locator("[data-hit]")).to_have_count(1)
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= 390

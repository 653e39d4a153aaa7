"""Where typed words go: into the box that the page is for, never into shortcuts; and what Escape closes."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import OpenPage, Server

pytestmark = pytest.mark.browser


def box(page: Page) -> Locator:
    return page.get_by_label("Message", exact=True)


def test_words_typed_after_a_click_on_canvas_stand_in_its_box(open_page: OpenPage, server: Server) -> None:
    # The S of "simple" opened a second dialog over the same form, which then held "imple checkout screen".
    project = server.post("/v1/projects", {"name": "Empty"})["id"]
    page = open_page(f"/projects/{project}")
    expect(box(page)).to_be_focused()
    page.get_by_role("link", name="Canvas", exact=True).click()
    expect(page.get_by_role("heading", name="What do you want to build?")).to_be_visible()
    expect(box(page)).to_be_focused()
    page.keyboard.type("a simple checkout screen")
    expect(box(page)).to_have_value("a simple checkout screen")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_words_typed_after_a_click_on_new_thread_stand_in_its_box(open_page: OpenPage) -> None:
    # "find / in bookmarks" landed as " in bookmarks" in the search for threads.
    page = open_page()
    expect(box(page)).to_be_focused()
    page.get_by_role("link", name="New thread").click()
    page.keyboard.type("find / in bookmarks")
    expect(box(page)).to_have_value("find / in bookmarks")
    expect(page.get_by_label("Search threads and messages")).to_have_value("")


def test_no_letter_is_a_shortcut_beside_an_empty_box(open_page: OpenPage, server: Server) -> None:
    project = server.post("/v1/projects", {"name": "Keys"})["id"]
    document = server.post(f"/v1/projects/{project}/documents", {"title": "Notes", "markdown": "One."})["id"]
    page = open_page(f"/projects/{project}/canvas")
    expect(box(page)).to_be_focused()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.type("s n ?")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page).to_have_url(f"{server.url}/projects/{project}/canvas")
    page.goto(f"/documents/{document}")
    expect(page.locator("[data-document-body]")).to_be_visible()
    page.keyboard.type("n/")
    expect(page).to_have_url(f"{server.url}/documents/{document}")
    expect(page.get_by_label("Search threads and messages")).not_to_be_focused()
    page.goto("/runs")  # where nothing is written, letters are shortcuts
    expect(page.get_by_role("heading", name="Runs", exact=True)).to_be_visible()
    page.keyboard.type("n")
    expect(box(page)).to_be_focused()


def open_dialog(page: Page, menu: str, item: str) -> Locator:
    page.get_by_role("button", name=menu).click()
    page.get_by_role("menuitem", name=item).click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Close")).to_be_visible()
    return dialog


@pytest.mark.parametrize(
    ("menu", "item"), [("On this machine", "API tokens"), ("My project", "Members and invitations")]
)
def test_the_first_escape_closes_a_dialog(open_page: OpenPage, menu: str, item: str) -> None:
    # The close button had the focus, and its tip took the first Escape.
    page = open_page()
    expect(box(page)).to_be_focused()
    dialog = open_dialog(page, menu, item)
    expect(page.get_by_role("tooltip")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)


def test_the_first_escape_closes_the_canvas_help(open_page: OpenPage, server: Server) -> None:
    project = server.post("/v1/projects", {"name": "Help"})["id"]
    server.post(f"/v1/projects/{project}/screens", {"title": "One"})
    page = open_page(f"/projects/{project}/canvas")
    page.get_by_role("button", name="Display options").click()
    page.get_by_role("menuitem", name="Keyboard shortcuts").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_what_was_typed_into_a_dialog_stands_there_again_after_escape(open_page: OpenPage, server: Server) -> None:
    # Escape threw away what was typed, without a word.
    page = open_page()
    expect(box(page)).to_be_focused()
    name = "Name of the new token"
    open_dialog(page, "On this machine", "API tokens").get_by_label(name).fill("my laptop")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    dialog = open_dialog(page, "On this machine", "API tokens")
    expect(dialog.get_by_label(name)).to_have_value("my laptop")
    dialog.get_by_role("button", name="Create").click()
    expect(dialog.get_by_text("Copy the token now.")).to_be_visible()
    expect(dialog.get_by_label(name)).to_have_value("")
    page.keyboard.press("Escape")
    expect(open_dialog(page, "On this machine", "API tokens").get_by_label(name)).to_have_value("")


def test_a_text_to_import_and_a_source_stand_there_again_after_escape(open_page: OpenPage, server: Server) -> None:
    project = server.post("/v1/projects", {"name": "Kept"})["id"]
    page = open_page(f"/projects/{project}/documents")
    for label, button, path in (
        ("Markdown", "Import Markdown", "documents"),
        ("Address", re.compile("Add (source|documentation)"), "knowledge"),
    ):
        page.goto(f"/projects/{project}/{path}")
        dialog = page.get_by_role("dialog")
        page.get_by_role("button", name=button).first.click()
        dialog.get_by_role("textbox", name=re.compile(f"^{label}")).fill("Half a thought")
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
        page.get_by_role("button", name=button).first.click()
        expect(dialog.get_by_role("textbox", name=re.compile(f"^{label}"))).to_have_value("Half a thought")

"""A document in the browser: written block by block, moved, kept for oneself, changed by two, looked back at."""

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import test_document_people as people
from tests.browser.test_document_people import PHONE, Enter, Shared

pytestmark = pytest.mark.browser

# The same server, with its owner and Bob Ross, who is an editor.
server = people.server
enter = people.enter

TEXT = """# Plan

We move the billing service in three steps.

The old cluster is shut in March.

## Steps

- copy the data
- switch the readers

## Way back

The mirror in the other direction.
"""


def opened(enter: Enter, server: Shared, title: str, query: str = "", options: Any = None) -> tuple[Page, str]:
    """A new document with TEXT, opened as its owner; the page and the document's id."""
    body = {"title": title, "markdown": TEXT}
    document = server.ask("POST", f"/v1/projects/{server.project}/documents", body)
    page = enter(server.token, f"/documents/{document['id']}{query}", **(options or {}))
    expect(page.locator("[data-row]").first).to_be_visible()
    return page, document["id"]


def row(page: Page, words: str) -> Locator:
    return page.locator("[data-row]").filter(has_text=words)


def writing(page: Page) -> Locator:
    return page.locator("textarea[data-writing]")


def write_in(page: Page, words: str) -> None:
    """Click a block, its editor opens with the caret at its end."""
    row(page, words).locator("[data-block-text]").click()
    expect(writing(page)).to_be_focused()
    page.keyboard.press("Control+End")


def is_saved(page: Page) -> None:
    expect(page.locator("[data-saved=Saved]")).to_be_visible()


def markdown(server: Shared, document: str) -> str:
    sections = server.ask("GET", f"/v1/documents/{document}")["sections"]
    lines = []
    for section in sections:
        lines += [f"{'#' * section['level']} {section['heading']}"] if section["level"] else []
        lines += [block["markdown"] for block in section["blocks"]]
    return "\n\n".join(lines)


def block_of(server: Shared, document: str, words: str) -> dict[str, Any]:
    sections = server.ask("GET", f"/v1/documents/{document}")["sections"]
    return next(b for section in sections for b in section["blocks"] if words in b["markdown"])


def change(server: Shared, document: str, token: str, *changes: dict[str, Any]) -> None:
    """What somebody else does at the same time."""
    server.ask("POST", f"/v1/documents/{document}/changes", {"changes": list(changes)}, token)


def test_an_example_is_begun_and_written_in_block_by_block(enter: Enter, server: Shared) -> None:
    page = enter(server.token, f"/projects/{server.project}/documents")
    begin = page.get_by_role("button", name=re.compile("Try an example"))
    new = page.get_by_role("button", name="New document")
    expect(begin.or_(new).first).to_be_visible()
    if begin.is_visible():
        begin.click()
        expect(row(page, "This is an example")).to_be_visible()
        page.get_by_role("link", name="All documents").click()
        expect(page.locator("[data-document-card]").first).to_contain_text("words")
    page.get_by_role("button", name="New document").click()
    title = page.get_by_label("Title", exact=True)
    title.fill("Letters")
    title.press("Enter")
    page.get_by_role("button", name=re.compile("Start writing|Write here")).click()
    writing(page).press_sequentially("Dear Ada,")
    page.keyboard.press("Enter")
    writing(page).press_sequentially("/li")
    page.keyboard.press("Enter")
    page.keyboard.type("first")
    page.keyboard.press("Enter")
    page.keyboard.type("second")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    page.keyboard.type("## Later")
    page.keyboard.press("Enter")
    expect(page.locator("[data-outline]", has_text="Later")).to_be_visible()
    expect(writing(page)).to_be_focused()
    page.keyboard.type("to be continued")
    page.keyboard.press("Control+Enter")
    is_saved(page)
    document = page.url.rsplit("/", 1)[1].split("?")[0]
    expect(page.get_by_role("heading", name="Letters")).to_be_visible()
    assert markdown(server, document) == "Dear Ada,\n\n- first\n- second\n\n## Later\n\nto be continued"


# Esc once threw away, without a word, what had been typed since the last pause.
def test_esc_ends_writing_and_keeps_what_was_typed(enter: Enter, server: Shared) -> None:
    page, document = opened(enter, server, "Esc")
    write_in(page, "We move the billing service")
    page.keyboard.type(" And this stays.")
    page.keyboard.press("Escape")
    expect(writing(page)).to_have_count(0)
    expect(row(page, "And this stays.")).to_have_count(1)
    is_saved(page)
    assert "And this stays." in markdown(server, document)


def test_keys_delete_join_and_go_from_block_to_block(enter: Enter, server: Shared) -> None:
    page, document = opened(enter, server, "Keys")
    write_in(page, "We move the billing service")
    page.keyboard.press("Escape")
    expect(writing(page)).to_have_count(0)
    page.keyboard.press("Enter")
    expect(writing(page)).to_be_focused()
    page.keyboard.press("Control+End")
    page.keyboard.press("ArrowDown")
    expect(writing(page)).to_have_value("The old cluster is shut in March.")
    page.keyboard.press("Backspace")
    expect(writing(page)).to_have_value("We move the billing service in three steps. The old cluster is shut in March.")
    page.keyboard.press("Control+Enter")
    is_saved(page)
    write_in(page, "The mirror")
    page.keyboard.press("Control+a")
    page.keyboard.press("Backspace")
    page.keyboard.press("Backspace")
    page.keyboard.press("Control+Enter")
    expect(row(page, "The mirror")).to_have_count(0)
    is_saved(page)
    text = markdown(server, document)
    assert "three steps. The old cluster is shut in March." in text
    assert "mirror" not in text


def test_blocks_and_sections_are_moved_by_mouse_and_by_key(enter: Enter, server: Shared) -> None:
    page, document = opened(enter, server, "Moves")
    write_in(page, "The old cluster")
    page.keyboard.press("Control+Enter")
    page.keyboard.press("Alt+ArrowUp")
    is_saved(page)
    expect(page.locator("[data-block-id]").first).to_contain_text("The old cluster")
    page.locator("[data-outline]", has_text="Way back").locator("button").focus()
    page.keyboard.press("Alt+ArrowUp")
    expect(page.locator("[data-outline]").nth(1)).to_have_text("Way back")
    is_saved(page)
    handle = row(page, "The mirror")
    handle.hover()
    start = handle.locator("[data-handle]").bounding_box()
    end = row(page, "copy the data").bounding_box()
    assert start is not None
    assert end is not None
    page.mouse.move(start["x"] + 8, start["y"] + 8)
    page.mouse.down()
    page.mouse.move(start["x"] + 8, start["y"] + 40, steps=4)
    page.mouse.move(end["x"] + 90, end["y"] + end["height"] - 2, steps=4)
    expect(page.locator(".drop-line")).to_be_visible()
    page.mouse.up()
    expect(page.locator("[data-block-id]").last).to_contain_text("The mirror")
    is_saved(page)
    text = markdown(server, document)
    assert text.index("The old cluster") < text.index("We move the billing")
    assert text.index("## Way back") < text.index("## Steps") < text.index("The mirror")


def test_two_changes_of_the_same_words_are_put_together_and_survive_a_reload(enter: Enter, server: Shared) -> None:
    page, document = opened(enter, server, "Meeting")
    old = block_of(server, document, "old cluster")
    theirs = "The old cluster is shut in April."
    write_in(page, "The old cluster")
    page.keyboard.press("Control+a")
    page.keyboard.insert_text("The old cluster is shut in May, we hope.")
    edit = {"op": "edit_block", "block_id": old["id"], "old": old["markdown"], "markdown": theirs}
    change(server, document, server.bob, edit)
    row(page, "We move the billing").locator("[data-block-text]").click()
    meeting = page.locator("[data-meeting]")
    expect(meeting).to_contain_text("April")
    expect(meeting).to_contain_text("May, we hope")
    page.reload()
    expect(page.locator("[data-draft-note]")).to_contain_text("Unsaved changes")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(meeting).to_be_visible()
    meeting.get_by_label("Result").fill("The old cluster is shut in April or May.")
    meeting.get_by_role("button", name="Save").click()
    is_saved(page)
    expect(meeting).to_have_count(0)
    assert block_of(server, document, "old cluster")["markdown"] == "The old cluster is shut in April or May."


def test_what_others_write_appears_at_once_and_leaves_the_caret_alone(enter: Enter, server: Shared) -> None:
    page, document = opened(enter, server, "Live")
    mine, other = (block_of(server, document, words) for words in ("We move", "The mirror"))
    write_in(page, "We move the billing service")
    change(
        server,
        document,
        server.bob,
        {"op": "edit_block", "block_id": other["id"], "old": other["markdown"], "markdown": "Nothing to fear."},
        {"op": "edit_block", "block_id": mine["id"], "old": mine["markdown"], "markdown": "Slowly " + mine["markdown"]},
    )
    expect(row(page, "Nothing to fear.")).to_be_visible()
    expect(page.locator("[data-draft-note]")).to_contain_text("changed this block")
    expect(writing(page)).to_have_value("We move the billing service in three steps.")
    expect(writing(page)).to_be_focused()
    page.keyboard.type(" Together.")
    page.keyboard.press("Control+Enter")
    is_saved(page)
    expect(row(page, "Slowly We move the billing service in three steps. Together.")).to_be_visible()


def test_a_section_that_somebody_keeps_is_read_asked_for_and_handed_over(enter: Enter, server: Shared) -> None:
    page, document = opened(enter, server, "Kept")
    section = server.ask("GET", f"/v1/documents/{document}")["sections"][1]["id"]
    server.ask("PUT", f"/v1/sections/{section}/lock", {}, server.bob)
    note = page.locator("[data-section-lock]")
    expect(note).to_contain_text("Locked by Bob Ross until")
    row(page, "copy the data").locator("[data-block-text]").click()
    expect(writing(page)).to_have_count(0)
    note.get_by_role("button", name="Request the lock").click()
    expect(note.get_by_role("button", name="Requested")).to_be_disabled()
    me = server.ask("GET", "/v1/me")["user"]["id"]
    server.ask("POST", f"/v1/sections/{section}/lock/handover", {"user_id": me}, server.bob)
    expect(note).to_contain_text("Locked by you until")
    write_in(page, "copy the data")
    page.keyboard.press("Escape")
    note.get_by_role("button", name="Release the lock").click()
    expect(note).to_have_count(0)


def test_the_history_shows_what_changed_and_brings_back_what_was(enter: Enter, server: Shared) -> None:
    page, document = opened(enter, server, "History", "?panel=history")
    write_in(page, "The old cluster")
    page.keyboard.type(" Or later.")
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-version='2']")).to_contain_text("Now")
    page.locator("[data-version='2']").get_by_role("button", name="View changes").click()
    expect(page.locator("[data-document-diff] ins")).to_have_text(re.compile("Or later"))
    page.locator("[data-version='1'] button[aria-pressed]").click()
    expect(page.locator("[data-past='1']")).not_to_contain_text("Or later.")
    page.get_by_role("button", name="Restore").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Restore").click()
    expect(page.locator("[data-version='3']")).to_contain_text("Now")
    expect(row(page, "The old cluster is shut in March.")).to_be_visible()
    assert "Or later" not in markdown(server, document)


def test_markdown_goes_in_and_comes_out(enter: Enter, server: Shared) -> None:
    page, _ = opened(enter, server, "In and out")
    page.get_by_role("button", name="Document menu").click()
    page.get_by_role("menuitem", name="Import Markdown").click()
    page.get_by_label("Markdown file").set_input_files(
        {"name": "more.md", "mimeType": "text/markdown", "buffer": b"## More\n\n1. one\n2. two\n"}
    )
    expect(page.get_by_label("Markdown", exact=True)).to_have_value(re.compile("## More"))
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.locator("[data-outline]").last).to_have_text("More")
    page.get_by_role("button", name="Document menu").click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name="Download Markdown").click()
    text = download.value.path().read_text()
    assert text.startswith("# Plan\n\nWe move the billing service")
    assert text.rstrip().endswith("## More\n\n1. one\n2. two")


def test_a_phone_reads_writes_and_finds_its_way(enter: Enter, server: Shared) -> None:
    page, document = opened(enter, server, "Phone", options=PHONE)
    page.get_by_role("button", name="Outline").tap()
    page.get_by_role("dialog").get_by_role("button", name="Way back").tap()
    expect(page.get_by_role("dialog")).to_have_count(0)
    row(page, "The mirror").locator("[data-block-text]").tap()
    expect(writing(page)).to_be_focused()
    page.keyboard.press("Control+End")
    page.keyboard.type(" Twice.")
    page.get_by_role("tab", name="History").tap()
    expect(page.locator("[data-version]").first).to_contain_text("Now")
    page.locator("[data-version='1'] button[aria-pressed]").tap()
    expect(page.locator("[data-past='1']")).not_to_contain_text("Twice.")
    page.get_by_role("button", name="Back to the document").tap()
    expect(row(page, "other direction. Twice.")).to_be_visible()
    assert "Twice." in markdown(server, document)

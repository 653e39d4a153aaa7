"""A thread's files in the page: what an answer changed, all of them, and bringing them back."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenPage, Server
from tests.browser.pages import saved, say, start_thread

pytestmark = pytest.mark.browser


def test_what_an_answer_changed_is_shown_and_can_be_brought_back(open_page: OpenPage, server: Server) -> None:
    page = open_page()
    thread = start_thread(page, "Write a program about primes")
    expect(saved(page)).to_be_visible(timeout=90_000)
    first = saved(page)
    first.get_by_role("button", name="Changed files").click()
    dialog = page.get_by_role("dialog", name="Files")
    expect(dialog.locator("[data-change=added]").first).to_contain_text("primes.py")
    expect(dialog.get_by_label("Changes to primes.py")).to_contain_text("+")
    expect(dialog.get_by_role("button", name="Restore these files")).to_have_count(0)  # they are the newest
    dialog.get_by_role("tab", name="All files").click()
    dialog.get_by_role("button", name="primes.py").click()
    expect(dialog.get_by_label("primes.py")).to_contain_text("def ")
    page.keyboard.press("Escape")

    say(page, "Write a program about fibonacci")
    answers = page.locator("article[aria-label=Answer][data-status=complete][data-message]")
    expect(answers).to_have_count(2, timeout=90_000)
    answers.first.get_by_role("button", name="Changed files").click()
    page.get_by_role("button", name="Restore these files").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Restore").click()
    expect(dialog).to_have_count(0)
    page.get_by_role("button", name="Files", exact=True).click()
    expect(dialog.get_by_role("list", name="Files")).to_contain_text("primes.py")
    names = [item["reason"] for item in server.get(f"/v1/threads/{thread}/checkpoints")["items"]]
    assert names[0] == "restore"

"""An answer that an error stopped, and what can be done with a thread while its agent works."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.pages import saved, start_thread
from tests.browser.studio import Studio, calling, open_studio

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    with open_studio(tmp_path_factory.mktemp("failed")) as studio:
        yield studio


def menu_item(page: Page, name: str) -> Locator:
    return page.get_by_role("menuitem", name=name, exact=True)


def test_the_error_of_an_answer_that_was_continued_is_folded(open_page: OpenPage, server: Studio) -> None:
    """The red box stayed between the two halves of one sentence, for ever."""
    server.script({"text": "The tallest mountain of all is", "fault": "content_filter"})
    page = open_page()
    start_thread(page, "Which mountain is the tallest?")
    error = page.locator("[data-end=error]")
    expect(error).to_contain_text("The provider of Grok 4.1 Fast refused this under its content policy")
    expect(page.get_by_text("The tallest mountain of all is")).to_be_visible()

    server.script({"text": "Mount Everest."})
    error.get_by_role("button", name="Continue from here").click()
    expect(saved(page)).to_contain_text("Mount Everest.")
    for _ in range(2):
        expect(error).to_have_count(0)
        fold = page.locator("[data-end=continued]")
        expect(fold).to_have_count(1)
        expect(fold.get_by_text("Continued after an error")).to_be_visible()
        reason = fold.get_by_text("under its content policy")
        expect(reason).to_be_hidden()
        fold.get_by_text("Continued after an error").focus()
        page.keyboard.press("Enter")
        expect(reason).to_be_visible()
        page.reload()


def test_a_thread_whose_agent_works_or_waits_is_neither_archived_nor_deleted(
    open_page: OpenPage, server: Studio
) -> None:
    """The menu offered both, and a message with two ids refused them."""
    server.script(calling("terminal", command="rm -rf build"))
    page = open_page()
    start_thread(page, "Tidy up")
    expect(page.get_by_role("button", name="Approve")).to_be_visible()
    page.get_by_role("button", name="Thread menu").click()
    for name in ("Archive", "Delete"):
        expect(menu_item(page, name)).to_be_disabled()
    expect(menu_item(page, "Rename")).to_be_enabled()
    page.keyboard.press("Escape")

    page.get_by_role("button", name="Stop the answer").click()
    expect(page.locator("[data-end=cancelled]")).to_be_visible()
    page.get_by_role("button", name="Thread menu").click()
    expect(menu_item(page, "Delete")).to_be_enabled()
    menu_item(page, "Archive").click()
    expect(page.get_by_text("This thread is archived.")).to_be_visible()

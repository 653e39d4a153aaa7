"""A long thread: the divider above what the agent still reads word for word, its summary, and how to undo it."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import QUICK, WEB, OpenPage, Server
from tests.browser.pages import saved, say, start_thread

pytestmark = pytest.mark.browser
FEW = "[profiles.chat]\ncontext_messages = 4\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    if not WEB.is_file():
        pytest.skip("the web app is not built; `make setup` builds it")
    running = Server(tmp_path_factory.mktemp("compaction"), configuration=QUICK + FEW)
    running.start()
    yield running
    running.end()


def test_a_summary_of_earlier_messages_is_shown_and_undone(open_page: OpenPage, server: Server) -> None:
    page = open_page()
    thread = start_thread(page, "Hello. We decided to use the key 4711.")
    for count, text in enumerate(("Hello again", "Hello once more"), start=1):
        expect(page.locator("article[aria-label=Answer][data-status=complete]")).to_have_count(count)
        say(page, text)
    divider = page.locator("[data-compaction]")
    expect(divider).to_be_visible()
    expect(page.locator("article[aria-label=Answer][data-status=complete]")).to_have_count(3)
    expect(saved(page)).to_be_visible()
    gauge = page.get_by_role("meter", name="Context used")
    expect(gauge).to_have_text(re.compile(r"\d+ %"))
    divider.get_by_role("button", name="Earlier messages were summarized").click()
    expect(divider).to_contain_text("We decided to use the key 4711")
    page.reload()
    expect(gauge).to_have_text(re.compile(r"\d+ %"))
    divider.get_by_role("button", name="Earlier messages were summarized").click()
    divider.get_by_role("button", name="Undo").click()
    expect(divider).to_have_count(0)
    assert server.get(f"/v1/threads/{thread}")["compaction"] is None
    say(page, "And now?")
    expect(page.locator("article[aria-label=Answer][data-status=complete]")).to_have_count(4)
    expect(divider).to_have_count(0)

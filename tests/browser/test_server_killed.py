"""The server dies while the page is open: the page says so, comes back by itself, and the same run completes."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenPage, Server
from tests.browser.pages import answer_text, live, prose, saved, start_thread, words, words_of

pytestmark = pytest.mark.browser


def test_a_run_survives_a_killed_server_while_the_page_is_open(open_page: OpenPage, server: Server) -> None:
    page = open_page()
    thread = start_thread(page, "Run a long job I can walk away from")
    terminal = live(page).locator("[data-terminal]")
    expect(terminal).to_contain_text("line 3 of 20")
    run = server.get(f"/v1/threads/{thread}")["active_run_id"]

    server.kill()
    expect(page.locator("[data-connection=reconnecting]")).to_be_visible()
    expect(terminal).to_contain_text("line 3 of 20")
    server.start()
    expect(page.locator("[data-connection=reconnecting]")).to_have_count(0)

    expect(saved(page)).to_be_visible(timeout=90_000)
    messages = server.get(f"/v1/threads/{thread}/messages")
    [answer] = [message for message in messages["items"] if message["role"] == "assistant"]
    assert answer["run_id"] == run, "the same run went on"
    calls = [part for part in answer["parts"] if part["type"] == "tool_call"]
    assert len(calls) == 1, "the command was not started a second time"
    lines = [line for line in calls[0]["output"].splitlines() if line.startswith("line ")]
    assert lines == [f"line {n} of 20" for n in range(1, 21)]
    assert words(prose(saved(page))) == words_of(answer_text(messages))

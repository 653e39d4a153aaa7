"""An answer in the browser: it streams, it outlasts the page, it is the same in every window."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenPage, Server
from tests.browser.pages import answer_text, expect_words, live, prose, saved, say, start_thread, words, words_of

pytestmark = pytest.mark.browser


def test_a_message_is_answered_word_by_word_and_saved(open_page: OpenPage, server: Server) -> None:
    page = open_page()
    thread = start_thread(page, "Tell me a story")
    expect(page.locator("[data-status-text]")).to_be_visible()
    expect_words(live(page), 5)
    early = prose(live(page))
    expect(saved(page)).to_be_visible()
    expect(live(page)).to_have_count(0)
    told = answer_text(server.get(f"/v1/threads/{thread}/messages"))
    assert words(prose(saved(page))) == words_of(told)
    assert 0 < len(words(early)) < len(words_of(told))


def test_a_page_refreshed_in_the_middle_goes_on_without_gap_or_double(open_page: OpenPage, server: Server) -> None:
    page = open_page()
    thread = start_thread(page, "Tell me a story")
    expect_words(live(page), 20)
    page.reload()
    expect_words(live(page), 25)
    seen = words(prose(live(page)))
    expect(saved(page)).to_be_visible()
    told = words_of(answer_text(server.get(f"/v1/threads/{thread}/messages")))
    assert told[: len(seen)] == seen
    assert words(prose(saved(page))) == told


def test_a_tool_call_shows_its_command_its_output_and_how_it_ended(open_page: OpenPage) -> None:
    page = open_page()
    start_thread(page, "Write a fibonacci program and run it")
    expect(saved(page)).to_be_visible()
    call = saved(page).locator("[data-tool=terminal]")
    expect(call).to_have_attribute("data-tool-status", "done")
    call.get_by_role("button").first.click()
    expect(call.locator("[data-terminal]")).to_contain_text("fibonacci: 0, 1, 1, 2, 3, 5")
    expect(call.locator("[data-terminal]")).to_contain_text("exit code 0")


def test_two_windows_show_the_same_answer_at_the_same_time(open_page: OpenPage) -> None:
    one = open_page()
    thread = start_thread(one, "Tell me a story")
    other = open_page(f"/threads/{thread}")
    expect_words(live(other), 10)
    expect(live(one)).to_be_visible()
    expect(saved(one)).to_be_visible()
    expect(saved(other)).to_be_visible()
    assert prose(saved(one)) == prose(saved(other))
    say(other, "Tell me a story again")
    expect(one.get_by_text("Tell me a story again")).to_be_visible()
    expect(live(one)).to_be_visible()


def test_a_cancel_in_one_window_keeps_what_was_written_in_all(open_page: OpenPage) -> None:
    one = open_page()
    thread = start_thread(one, "Tell me a story")
    other = open_page(f"/threads/{thread}")
    expect_words(live(other), 10)
    one.get_by_role("button", name="Stop the answer").click()
    for page in (one, other):
        expect(page.locator("[data-end=cancelled]")).to_contain_text("Cancelled")
        assert len(words(prose(saved(page, "cancelled")))) >= 10


def test_a_message_sent_meanwhile_waits_in_the_queue_and_is_answered(open_page: OpenPage) -> None:
    page = open_page()
    start_thread(page, "Tell me a story")
    expect_words(live(page), 5)
    say(page, "Hello there")
    expect(page.get_by_text("Queued: ")).to_be_visible()
    answers = page.locator("article[aria-label=Answer][data-status=complete]")
    expect(answers).to_have_count(2)
    expect(answers.last).to_contain_text("I am the demo model")


def test_a_message_sent_now_is_read_before_the_answer_ends_and_stands_within_it(open_page: OpenPage) -> None:
    page = open_page()
    thread = start_thread(page, "Tell me a story")
    expect_words(live(page), 5)
    box = page.get_by_label("Message", exact=True)
    box.fill("Hello there")
    box.press("Control+Enter")
    expect(page.locator("article", has=page.locator("[data-unread]"))).to_contain_text("Hello there")
    say(page, "Write a poem")
    waiting = page.get_by_role("region", name="Queued messages")
    waiting.get_by_role("button", name="Send now").click()
    expect(waiting).to_have_count(0)
    for shown in (page, open_page(f"/threads/{thread}")):
        sent = saved(shown).locator("article[aria-label='Your message']")
        expect(sent).to_have_text([re.compile("Hello there"), re.compile("Write a poem")])
        expect(shown.locator("article[aria-label=Answer]")).to_have_count(1)
        expect(shown.get_by_text("Hello there")).to_have_count(1)
    box.fill("Hello again")
    expect(page.get_by_role("button", name="Send now")).to_have_count(0)

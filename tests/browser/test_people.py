"""What waits for a person: approvals, questions, forks; and the page on a phone."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenPage, Server
from tests.browser.pages import THREAD_URL, live, saved, say, start_thread

pytestmark = pytest.mark.browser

PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}


def test_an_approval_given_in_one_window_is_seen_in_the_other(open_page: OpenPage) -> None:
    one = open_page()
    thread = start_thread(one, "Ask me before deleting something")
    other = open_page(f"/threads/{thread}")
    for page in (one, other):
        expect(page.locator("[data-approval]")).to_contain_text("rm -rf build")
        expect(page.locator("[data-status-text]")).to_have_text("Waiting for your approval")
    expect(one.locator("[data-clock]")).to_have_count(0)  # there is no sandbox yet that could be frozen
    one.get_by_role("button", name="Approve", exact=True).click()
    for page in (one, other):
        expect(page.locator("[data-approval]")).to_have_count(0)
        expect(saved(page).locator("[data-tool=terminal][data-tool-status=done]")).to_contain_text("Approved by you")
    say(one, "Clean up")
    expect(one.locator("[data-clock=approval_pause]")).to_be_visible()


def test_an_approval_survives_a_refresh_and_is_denied_with_a_reason(open_page: OpenPage) -> None:
    page = open_page()
    start_thread(page, "Clean up")
    expect(page.locator("[data-approval]")).to_be_visible()
    page.reload()
    page.get_by_role("button", name="Deny…").click()
    page.get_by_label("Reason for denying").fill("I still need that folder")
    page.get_by_role("button", name="Deny", exact=True).click()
    expect(saved(page)).to_contain_text("I still need that folder")
    expect(saved(page).locator("[data-tool=terminal][data-tool-status=denied]")).to_contain_text("Denied by you")


def test_the_command_can_be_changed_before_it_is_approved(open_page: OpenPage) -> None:
    page = open_page()
    start_thread(page, "Clean up")
    page.get_by_role("button", name="Edit arguments").click()
    page.get_by_label("command", exact=True).fill("echo nothing was deleted")
    page.get_by_role("button", name="Approve edited call").click()
    call = saved(page).locator("[data-tool=terminal]")
    expect(call).to_have_attribute("data-tool-status", "done")
    expect(call).to_contain_text("echo nothing was deleted")


def test_a_question_is_answered_in_a_form(open_page: OpenPage) -> None:
    page = open_page()
    start_thread(page, "Ask me a question")
    form = page.locator("[data-question]")
    expect(form.get_by_role("button", name="Answer")).to_be_disabled()
    form.get_by_label("What should I call you?").fill("Ada")
    form.get_by_role("button", name="A long command").click()
    form.get_by_role("button", name="Answer").click()
    expect(saved(page)).to_contain_text("Thank you, Ada")
    expect(form).to_have_count(0)


def test_a_fork_holds_the_messages_up_to_the_point_and_names_its_origin(open_page: OpenPage, server: Server) -> None:
    page = open_page()
    thread = start_thread(page, "Hello there")
    expect(saved(page)).to_be_visible()
    saved(page).get_by_role("button", name="Fork from here").click()
    page.wait_for_url(lambda url: re.search(THREAD_URL, url) is not None and not url.endswith(thread))
    fork = page.url.rsplit("/", 1)[1]
    expect(page.get_by_text("Fork of", exact=False).first).to_be_visible()
    expect(saved(page)).to_contain_text("I am the demo model")
    assert server.get(f"/v1/threads/{fork}")["parent_thread_id"] == thread


def test_on_a_phone_the_threads_are_in_a_drawer_and_an_approval_can_be_given(open_page: OpenPage) -> None:
    page = open_page("/", **PHONE)
    box = page.get_by_label("Message", exact=True)
    box.fill("Clean up")
    page.get_by_role("button", name="Send").click()
    page.wait_for_url(THREAD_URL)
    page.get_by_role("button", name="Approve", exact=True).click()
    expect(saved(page)).to_be_visible()
    expect(live(page)).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing sticks out at the side"
    page.get_by_role("button", name="Show the sidebar").click()
    drawer = page.get_by_role("dialog")
    expect(drawer.locator("[data-thread-link][aria-current=page]")).to_be_visible()
    drawer.get_by_role("link", name="New thread").click()
    expect(drawer).to_have_count(0)


def test_the_thread_list_finds_words_of_messages_and_the_archive(open_page: OpenPage) -> None:
    page = open_page()
    start_thread(page, "Hello xylophone")
    expect(saved(page)).to_be_visible()
    page.get_by_role("button", name="Thread menu").click()
    page.get_by_role("menuitem", name="Archive").click()
    expect(page.get_by_text("This thread is archived")).to_be_visible()
    page.get_by_label("Search threads and messages").fill("xyloph")
    expect(page.locator("[data-thread-link]")).to_have_count(1)
    page.get_by_role("button", name="Unarchive").click()
    expect(page.get_by_label("Message", exact=True)).to_be_visible()

"""The whole way of two people with a document, in two browsers, without a key: a comment is given to the agent, the
other one watches and forks, the edits are decided one by one, and both see the same text, version and comment.

The pictures in docs/images are this test's: run it with OUTLAST_PICTURES naming that folder.
"""

from __future__ import annotations

import os
import re
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.pages import saved
from tests.browser.test_document_people import Enter, Shared, card, enter, select, server, tab

__all__ = ["enter", "server"]  # the fixtures of the other test of two people

pytestmark = pytest.mark.browser

DESKTOP: dict[str, Any] = {"viewport": {"width": 1440, "height": 900}, "color_scheme": "light"}
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
RUN_MS = 90_000
TEXT = """\
The harbour office keeps this handbook, and everybody who works here reads it once a year.

## Safety

It is very important that you wear a life jacket on every pontoon. \
This rule applies to everybody, basically at all times.

In order to be seen at night, you should always carry a lamp. \
The office lends lamps due to the fact that many people simply forget theirs.

In the event that there is an emergency, ring the bell at the end of the pier. \
It is really quite loud and can be heard everywhere.

At this point in time the crane is only operated by the harbour master. \
Nobody else is actually allowed to use it for any purpose.

## Fees

Guests pay for each night at the office.
"""
HERS = "Wear a life jacket on every pontoon, children too."


@pytest.mark.timeout(600)
def test_two_people_review_what_the_agent_proposes_for_a_comment(enter: Enter, server: Shared) -> None:
    document = _document(server)
    path = f"/documents/{document['id']}"
    ada = enter(server.token, path, **DESKTOP)
    bob = enter(server.bob, f"{path}?panel=comments", **DESKTOP)
    expect(bob.locator("[data-people]")).to_be_visible()

    _give_a_comment_to_the_agent(ada)
    _watch_without_a_say(bob, ada)
    _fork(bob, server)
    bob.goto(f"{path}?panel=comments")
    _decide_about_each(ada)
    _see_what_became_of_it(ada, bob, server, document)


@pytest.mark.timeout(600)
def test_a_conflict_is_decided_place_by_place_and_a_phone_is_enough_to_approve(enter: Enter, server: Shared) -> None:
    document = _document(server)
    blocks = document["sections"][1]["blocks"]
    _ask(server, document, "Make the Safety section shorter")
    proposal = server.ask("GET", f"/v1/documents/{document['id']}/proposals")["items"][0]
    _change(server, document, blocks[0], "On every pontoon you wear a life vest. This rule applies to everybody.")
    _change(server, document, blocks[3], blocks[3]["markdown"].replace("harbour master", "harbour master, Jo"))

    ada = enter(server.token, f"/documents/{document['id']}?panel=review", **DESKTOP)
    rows = ada.locator("[data-review-row]")
    expect(rows).to_have_count(len(proposal["edits"]))
    expect(rows.first).to_contain_text("changed the same text")
    ada.keyboard.press("a")
    choice = ada.get_by_role("dialog", name="Conflicting changes")
    expect(choice.get_by_role("button", name="Accept the result")).to_be_disabled()
    for group in choice.get_by_role("radiogroup").all():
        group.get_by_role("radio", name="Current").click()
    _picture(ada, "document-conflict")
    choice.get_by_label("Result", exact=True).fill("You wear a life vest on every pontoon.")
    choice.get_by_role("button", name="Accept the result").click()
    expect(_row(ada, 0)).to_have_attribute("data-state", "accepted")
    expect(_body(ada)).to_contain_text("You wear a life vest on every pontoon.")

    phone = enter(server.bob, f"/documents/{document['id']}?panel=review", **PHONE)
    bar = phone.locator("[data-review-bar]")
    for _ in range(2):
        bar.get_by_role("button", name="Accept").click()
        _all_answered(phone)
    expect(phone.locator("[data-review-row]").last).to_contain_text("Merged with")
    _picture(phone, "document-phone")
    bar.get_by_role("button", name="Accept").click()
    expect(phone.get_by_text("Review complete")).to_be_visible()
    expect(_body(ada)).to_contain_text("harbour master, Jo")


def test_a_kept_section_stops_a_decision_and_an_acceptance_is_taken_back(enter: Enter, server: Shared) -> None:
    document = _document(server)
    section = document["sections"][1]
    _ask(server, document, "Make the Safety section shorter")
    server.ask("PUT", f"/v1/sections/{section['id']}/lock", {}, server.bob)
    ada = enter(server.token, f"/documents/{document['id']}?panel=review", **DESKTOP)
    first = _row(ada, 0)
    expect(first.get_by_role("note")).to_contain_text("Bob Ross locked this section until")
    expect(first.get_by_role("button", name="Accept")).to_be_disabled()
    first.get_by_role("button", name="Request the lock").click()
    expect(first.get_by_role("button", name="requested the lock")).to_be_disabled()
    server.ask("DELETE", f"/v1/sections/{section['id']}/lock", None, server.bob)
    expect(first.get_by_role("button", name="Accept")).to_be_enabled()

    before = _read(server, f"/v1/documents/{document['id']}/markdown")
    ada.keyboard.press("a")
    expect(first).to_have_attribute("data-state", "accepted")
    ada.keyboard.press("Shift+A")
    expect(ada.get_by_text("Review complete")).to_be_visible()
    assert _read(server, f"/v1/documents/{document['id']}/markdown") != before
    assert server.ask("GET", f"/v1/documents/{document['id']}")["version"] == 3
    ada.keyboard.press("z")
    expect(ada.get_by_text(re.compile(r"open again\. The accepted text was removed")).first).to_be_visible()
    expect(ada.locator("[data-review-row][data-state=open]").first).to_be_visible()
    assert server.ask("GET", f"/v1/documents/{document['id']}")["version"] == 4


def _document(server: Shared) -> dict[str, Any]:
    body = {"title": "Handbook of the harbour", "markdown": TEXT}
    made: dict[str, Any] = server.ask("POST", f"/v1/projects/{server.project}/documents", body)
    return made


def _give_a_comment_to_the_agent(ada: Page) -> None:
    select(ada, "very important").get_by_role("button", name="Comment").click()
    box = ada.get_by_label("Comment", exact=True)
    box.fill("Too many words. Please make this section shorter.")
    _picture(ada, "document-comment")
    ada.locator("[data-new-comment]").get_by_role("button", name="Assign to agent").click()
    expect(saved(ada)).to_be_visible(timeout=RUN_MS)
    expect(ada.locator("[data-proposal-counts]")).to_have_text("4 open")


def _watch_without_a_say(bob: Page, ada: Page) -> None:
    """The conversation came to Bob's comments by itself; Ada drives it, so he reads."""
    answer = card(bob).locator("[data-agent-answer]")
    answer.get_by_role("button", name="Open the conversation").click()
    expect(bob.locator("[data-proposal-counts]")).to_have_text("4 open")
    banner = bob.locator("[data-lock-banner]")
    expect(banner).to_contain_text("Locked by Owner")
    expect(bob.get_by_label("Message", exact=True)).to_have_count(0)
    _picture(bob, "document-watching")
    ada.get_by_label("Message", exact=True).fill("Thank you")
    ada.get_by_label("Message", exact=True).fill("")


def _fork(bob: Page, server: Shared) -> None:
    """His own conversation, with the messages so far; the first one stays as it is."""
    before = server.ask("GET", f"/v1/projects/{server.project}/threads?limit=100")["items"]
    bob.locator("[data-lock-banner]").get_by_role("button", name="Fork thread").click()
    expect(bob.get_by_label("Message", exact=True)).to_be_visible()
    after = server.ask("GET", f"/v1/projects/{server.project}/threads?limit=100")["items"]
    (made,) = [one for one in after if one["id"] not in {known["id"] for known in before}]
    assert made["title"].startswith("Fork of")
    assert made["parent_thread_id"] in {one["id"] for one in before}


def _decide_about_each(ada: Page) -> None:
    """By keys: two are accepted, one is changed first, one is rejected."""
    ada.locator("[data-proposal]").get_by_role("button", name="Review").click()
    expect(_progress(ada)).to_contain_text("1 of 4")
    expect(_row(ada, 0).locator("del").first).to_be_visible()
    ada.keyboard.press("j")
    expect(_progress(ada)).to_contain_text("2 of 4")
    _picture(ada, "document-review")
    ada.keyboard.press("a")
    expect(_row(ada, 1)).to_have_attribute("data-state", "accepted")
    expect(_progress(ada)).to_contain_text("3 of 4")
    ada.keyboard.press("a")
    expect(_row(ada, 2)).to_have_attribute("data-state", "accepted")
    expect(_progress(ada)).to_contain_text("4 of 4")
    ada.keyboard.press("r")
    expect(_row(ada, 3)).to_have_attribute("data-state", "rejected")
    expect(_progress(ada)).to_contain_text("1 of 4")
    ada.keyboard.press("e")
    box = ada.get_by_label("Text to accept")
    box.fill(HERS)
    expect(ada.get_by_text("Your changes to the proposal")).to_be_visible()
    _picture(ada, "document-edit")
    box.press("Control+Enter")
    expect(ada.get_by_text("Review complete")).to_be_visible()


def _see_what_became_of_it(ada: Page, bob: Page, server: Shared, document: dict[str, Any]) -> None:
    """Bob's page was open all the time."""
    expect(_body(bob)).to_contain_text(HERS)
    kept = document["sections"][1]["blocks"][3]["markdown"]
    tab(bob, "Comments")
    expect(card(bob)).to_have_count(0)
    bob.get_by_role("group", name="Filter comments").get_by_role("button", name="Resolved").click()
    expect(card(bob)).to_contain_text("Resolved by Owner")
    tab(ada, "History")
    _picture(ada, "document-history")
    now = server.ask("GET", f"/v1/documents/{document['id']}")
    said = [block["markdown"] for section in now["sections"] for block in section["blocks"]]
    assert HERS in said
    assert kept in said
    assert [block["editor_kind"] for block in now["sections"][1]["blocks"]] == ["agent", "agent", "agent", "person"]
    assert now["version"] == 4
    newest = server.ask("GET", f"/v1/documents/{document['id']}/versions")["items"][0]
    assert newest["kind"] == "agent"
    assert newest["by_name"] == "Owner"
    assert newest["thread_id"] is not None
    assert newest["message_id"] is not None


def _ask(server: Shared, document: dict[str, Any], words: str) -> None:
    """The agent answers in the document's own conversation; back when it has."""
    path = f"/v1/threads/{document['thread_id']}/runs"
    run = server.ask("POST", path, {"content": words})["run_id"]
    _read(server, f"/v1/runs/{run}/events")  # to its end
    server.ask("DELETE", f"/v1/threads/{document['thread_id']}/lock")


def _read(server: Shared, path: str) -> str:
    request = urllib.request.Request(f"{server.url}{path}", headers={"authorization": f"Bearer {server.token}"})
    with urllib.request.urlopen(request, timeout=RUN_MS / 1000) as answer:
        return str(answer.read().decode())


def _change(server: Shared, document: dict[str, Any], block: dict[str, Any], markdown: str) -> None:
    change = {"op": "edit_block", "block_id": block["id"], "old": block["markdown"], "markdown": markdown}
    server.ask("POST", f"/v1/documents/{document['id']}/changes", {"changes": [change]}, server.bob)


def _row(page: Page, number: int) -> Locator:
    return page.locator("[data-review-row]").nth(number)


def _progress(page: Page) -> Locator:
    return page.locator("[data-review-progress]")


def _body(page: Page) -> Locator:
    return page.locator("[data-document-body]")


def _all_answered(page: Page) -> None:
    expect(page.locator("[data-review-row] [aria-busy], [data-review-bar] [aria-busy]")).to_have_count(0)


def _picture(page: Page, name: str) -> None:
    folder = os.environ.get("OUTLAST_PICTURES")
    if folder:
        page.screenshot(path=Path(folder) / f"{name}.png")

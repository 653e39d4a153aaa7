"""Two people at a review: what one writes while the other decides is kept, and so is what the other has typed."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.test_document_journey import DESKTOP, _ask, _body, _document, _read, _row
from tests.browser.test_document_people import Enter, Shared, enter, server

__all__ = ["enter", "server"]  # the fixtures of the other test of two people

pytestmark = pytest.mark.browser


def test_what_another_writes_while_one_changes_a_proposal_stays_in_the_text(enter: Enter, server: Shared) -> None:
    document, ada = _reviewing(enter, server)
    first, second, *_ = _blocks(server, document)
    box = ada.get_by_label("Text to accept")
    ada.keyboard.press("e")
    box.fill(f"Please: {box.input_value()}")
    _write(server, document, first, first["markdown"].replace("a life jacket", "a red life jacket"))
    expect(_row(ada, 0)).to_contain_text("Merged with Bob Ross")
    box.press("Control+Enter")
    expect(_row(ada, 0)).to_have_attribute("data-state", "accepted")
    said = _blocks(server, document)[0]["markdown"]
    assert said.startswith("Please: ")
    assert "a red life jacket" in said

    ada.keyboard.press("e")
    box.fill("Carry a lamp, says Ada.")
    _write(server, document, second, "Carry two lamps, says Bob.")
    expect(_row(ada, 1)).to_contain_text("changed the same text")
    box.press("Control+Enter")
    choice = _choice(ada)
    expect(choice.get_by_role("region", name="Yours")).to_contain_text("Carry a lamp, says Ada.")
    expect(choice.get_by_role("region", name="Now (Bob Ross)")).to_contain_text("Carry two lamps, says Bob.")
    assert _blocks(server, document)[1]["markdown"] == "Carry two lamps, says Bob."
    for group in choice.get_by_role("radiogroup").all():
        group.get_by_role("radio", name="Yours").click()
    choice.get_by_role("button", name="Accept the result").click()
    expect(_body(ada)).to_contain_text("Carry a lamp, says Ada.")


def test_a_conflict_that_is_being_decided_stays_as_it_was_shown_while_another_writes(
    enter: Enter, server: Shared
) -> None:
    document, ada = _reviewing(enter, server)
    first, second, *_ = _blocks(server, document)
    original = second["markdown"]
    first = _write(server, document, first, "On every pontoon you wear a vest. This rule applies to everybody.")
    second = _write(server, document, second, "Everybody carries a lamp. Ask for one.")
    expect(_row(ada, 0)).to_contain_text("changed the same text")
    ada.keyboard.press("a")
    choice = _choice(ada)
    result = choice.get_by_label("Result", exact=True)
    result.fill("You always wear a vest. This rule applies to everybody.")
    _write(server, document, first, f"{first['markdown'][:-1]}, and to guests.")
    expect(choice.get_by_role("note")).to_contain_text("Bob Ross changed the text again")
    expect(result).to_have_value("You always wear a vest. This rule applies to everybody.")
    choice.get_by_role("button", name="Accept the result").click()
    expect(_row(ada, 0)).to_have_attribute("data-state", "accepted")
    merged = "You always wear a vest. This rule applies to everybody, and to guests."
    assert _blocks(server, document)[0]["markdown"] == merged

    expect(_row(ada, 1)).to_contain_text("changed the same text")
    ada.keyboard.press("a")
    result.fill("Carry a lamp, says Ada.")
    _write(server, document, second, f"{original} They are yellow.")  # nothing stands in the way any more
    choice.get_by_role("button", name="Refresh").click()
    expect(result).to_have_value("Carry a lamp, says Ada.")
    expect(choice.get_by_role("region", name="Now (Bob Ross)")).to_contain_text("They are yellow.")
    expect(_row(ada, 1)).to_have_attribute("data-state", "open")
    assert "They are yellow." in _blocks(server, document)[1]["markdown"]
    choice.get_by_role("button", name="Accept the result").click()
    expect(_body(ada)).to_contain_text("Carry a lamp, says Ada.")


def test_taking_back_an_acceptance_leaves_what_another_has_just_written(enter: Enter, server: Shared) -> None:
    document, ada = _reviewing(enter, server)
    before = _blocks(server, document)
    ada.route(re.compile(r"/changes\?since="), lambda _: None)  # this page hears of nothing newer
    ada.keyboard.press("a")
    expect(_row(ada, 0)).to_have_attribute("data-state", "accepted")
    _write(server, document, before[3], "Bob alone works the crane.")
    ada.keyboard.press("z")
    expect(ada.get_by_text("The edit is open again").first).to_be_visible()
    expect(_row(ada, 0)).to_have_attribute("data-state", "open")
    after = [block["markdown"] for block in _blocks(server, document)]
    assert after == [*(block["markdown"] for block in before[:3]), "Bob alone works the crane."]
    assert "Bob alone works the crane." in _read(server, f"/v1/documents/{document['id']}/markdown")


# Z after a rejection once wrote the rejected text into the document.
def test_taking_back_a_rejection_opens_the_edit_and_writes_nothing(enter: Enter, server: Shared) -> None:
    document, ada = _reviewing(enter, server)
    before = _read(server, f"/v1/documents/{document['id']}/markdown")
    ada.keyboard.press("r")
    expect(_row(ada, 0)).to_have_attribute("data-state", "rejected")
    ada.keyboard.press("z")
    expect(ada.get_by_text("The edit is open again").first).to_be_visible()
    expect(_row(ada, 0)).to_have_attribute("data-state", "open")
    expect(_row(ada, 0)).to_have_attribute("aria-current", "true")
    assert _read(server, f"/v1/documents/{document['id']}/markdown") == before
    ada.keyboard.press("r")
    expect(_row(ada, 0)).to_have_attribute("data-state", "rejected")
    _row(ada, 0).get_by_role("button").first.click()
    _row(ada, 0).get_by_role("button", name="Reopen").click()
    expect(_row(ada, 0)).to_have_attribute("data-state", "open")


# One conflict once kept everything from being accepted, and its message named a block's id.
def test_accepting_all_takes_what_it_can_and_leaves_the_conflict_to_be_decided(enter: Enter, server: Shared) -> None:
    document, ada = _reviewing(enter, server)
    _write(server, document, _blocks(server, document)[0], "Nobody reads it.")
    ada.keyboard.press("Shift+A")
    expect(ada.locator("[data-review-row][data-state=accepted]").first).to_be_visible()
    first = _row(ada, 0)
    expect(first).to_have_attribute("data-state", "open")
    expect(first).to_have_attribute("aria-current", "true")
    expect(first.get_by_role("button", name="Compare and decide")).to_be_visible()
    expect(first.get_by_role("alert")).to_have_count(0)
    expect(ada.get_by_text("blk_")).to_have_count(0)
    assert "Nobody reads it." in _read(server, f"/v1/documents/{document['id']}/markdown")


def _reviewing(enter: Enter, server: Shared) -> tuple[dict[str, Any], Page]:
    """A document with a proposal for each text of its section Safety, and Ada before the first of them."""
    document = _document(server)
    _ask(server, document, "Make the Safety section shorter")
    ada = enter(server.token, f"/documents/{document['id']}?panel=review", **DESKTOP)
    expect(_row(ada, 0)).to_have_attribute("aria-current", "true")
    return document, ada


def _blocks(server: Shared, document: dict[str, Any]) -> list[dict[str, Any]]:
    """The texts of Safety as they are now."""
    now = server.ask("GET", f"/v1/documents/{document['id']}")
    blocks: list[dict[str, Any]] = now["sections"][1]["blocks"]
    return blocks


def _write(server: Shared, document: dict[str, Any], block: dict[str, Any], markdown: str) -> dict[str, Any]:
    """Bob's; answers the block as it is then."""
    change = {"op": "edit_block", "block_id": block["id"], "old": block["markdown"], "markdown": markdown}
    server.ask("POST", f"/v1/documents/{document['id']}/changes", {"changes": [change]}, server.bob)
    return {**block, "markdown": markdown}


def _choice(page: Page) -> Locator:
    return page.get_by_role("dialog", name="Conflicting changes")

"""The administrators' page: users with their plans and credits, and what was set aside."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import WEB, OpenPage, Server

pytestmark = pytest.mark.browser
SET_ASIDE = (
    "timer",
    "fold:run_gone",
    1_790_000_000_000_000,  # microseconds since 1970
    5,
    "internal_error",
    "The log could not be read.",
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    if not WEB.is_file():
        pytest.skip("the web app is not built; `make setup` builds it")
    running = Server(tmp_path_factory.mktemp("administered"))
    running.start()
    running.stop()
    with closing(sqlite3.connect(running.folder / "data" / "outlast.db")) as db, db:
        db.execute("INSERT INTO set_aside (kind, id, since, tries, code, reason) VALUES (?, ?, ?, ?, ?, ?)", SET_ASIDE)
    running.start()
    yield running
    running.stop()


def test_an_administrator_changes_a_plan_and_gives_credits(open_page: OpenPage, server: Server) -> None:
    page = open_page("/administration")
    plan = page.get_by_label("Plan of Owner")
    plan.select_option("starter")
    expect(page.get_by_text("Owner is now on the plan starter")).to_be_visible()
    expect(page.get_by_text("25 credits")).to_be_visible()
    page.get_by_label("Give Owner credits").click()
    page.get_by_role("spinbutton").fill("10")
    page.get_by_role("button", name="Give credits", exact=True).click()
    expect(page.get_by_text("35 credits", exact=True)).to_be_visible()
    plan.select_option("unlimited")
    expect(page.get_by_text("Unlimited").first).to_be_visible()


def test_what_was_set_aside_is_shown_with_its_reason_and_tried_again(open_page: OpenPage, server: Server) -> None:
    page = open_page("/administration")
    row = page.get_by_role("listitem").filter(has_text="Handle a timer")
    expect(row).to_contain_text("The log could not be read.")
    row.get_by_role("button", name="Try again").click()
    expect(page.get_by_text("Nothing is set aside.")).to_be_visible()


def test_the_page_is_found_in_the_menu_of_the_user(open_page: OpenPage, server: Server) -> None:
    page = open_page("/")
    page.get_by_role("button", name="Owner").click()
    page.get_by_role("menuitem", name="Administration").click()
    expect(page.get_by_role("heading", name="Users")).to_be_visible()

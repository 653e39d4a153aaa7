"""What an MCP server asks in the middle of a call is a card in the thread: a form, and a page to open first."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from anyio.from_thread import start_blocking_portal
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.pages import saved
from tests.browser.studio import Studio, calling, open_studio
from tests.flow.mcp.asking_server import asking_server
from tests.flow.mcp.tool_server import ToolServer

pytestmark = pytest.mark.browser
DESK = """
from outlast import Agent, mcp

desk = Agent("desk", title="Desk", tools=[mcp.http("{url}", name="trains", allow=["book", "pay"])])
"""


@pytest.fixture(scope="module")
def trains() -> Iterator[ToolServer]:
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(asking_server(modern=True)) as server:
        yield server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, trains: ToolServer) -> Iterator[Studio]:
    folder = tmp_path_factory.mktemp("questions")
    (folder / "agents").mkdir()
    (folder / "agents" / "desk.py").write_text(DESK.format(url=trains.url))
    with open_studio(folder, more=f'\n[mcp]\nallow_private = ["{trains.place}"]\n') as studio:
        yield studio


def _ask(page: Page, text: str) -> None:
    page.get_by_role("button", name="Agent: ").click()
    page.get_by_role("menuitem").filter(has_text="Desk").click()
    page.get_by_label("Message", exact=True).fill(text)
    page.get_by_role("button", name="Send").click()


def test_the_form_of_a_server_is_answered_in_the_thread_and_its_call_goes_on(
    open_page: OpenPage, server: Studio, trains: ToolServer
) -> None:
    server.script(calling("trains__book", train="ICE 7"), {"text": "Two seats are booked."})
    page = open_page("/", viewport={"width": 1280, "height": 900})
    _ask(page, "Book two seats on the ICE 7.")
    page.get_by_role("button", name="Approve", exact=True).click()
    form = page.get_by_role("form", name="Question")
    expect(form).to_contain_text("trains asks: Which seats?")
    form.get_by_role("button", name="Accept").click()
    form.get_by_role("textbox", name="Seats").fill("2")
    form.get_by_role("button", name="Answer").click()
    expect(page.get_by_text("side needs an answer.")).to_be_visible()
    form.get_by_role("button", name="window").click()
    form.get_by_role("button", name="Answer").click()
    expect(saved(page)).to_contain_text("Two seats are booked.")
    assert trains.calls[-1] == ("book", {"train": "ICE 7", "given": True, "state": "ICE 7"})


def test_a_page_that_a_server_wants_opened_is_linked_and_the_call_is_made_again_afterwards(
    open_page: OpenPage, server: Studio, trains: ToolServer
) -> None:
    server.script(calling("trains__pay"), {"text": "It is paid."})
    page = open_page("/", viewport={"width": 390, "height": 844})
    _ask(page, "Pay for it.")
    form = page.get_by_role("form", name="Question")
    expect(form).to_contain_text("trains asks you to open a page of pay.example.com: Pay here")
    expect(form.get_by_role("link")).to_have_attribute("href", "https://pay.example.com/7")
    trains.stuck.set()  # the page was opened and paid: the next call succeeds
    form.get_by_role("button", name="I opened the page").click()
    form.get_by_role("button", name="Answer").click()
    expect(saved(page)).to_contain_text("It is paid.")
    assert [name for name, _ in trains.calls][-2:] == ["pay", "pay"]


def test_a_declined_form_needs_no_other_answer(open_page: OpenPage, server: Studio, trains: ToolServer) -> None:
    server.script(calling("trains__book", train="ICE 8"), {"text": "Nothing is booked."})
    page = open_page("/")
    _ask(page, "Book the ICE 8.")
    page.get_by_role("button", name="Approve", exact=True).click()
    form = page.get_by_role("form", name="Question")
    form.get_by_role("button", name="Decline").click()
    form.get_by_role("button", name="Answer").click()
    expect(saved(page)).to_contain_text("Nothing is booked.")

"""A conversation that one agent hands over to another one, as a person sees it: while it happens, and opened again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import QUICK, WEB, OpenPage, Server

pytestmark = pytest.mark.browser
REASON = "Refund order B-17: the brakes came broken, and the buyer wants the money back rather than new ones."
SHOP = """
from outlast import Agent, tool


@tool(ask="Refunds need a person")
def refund(order_id: str) -> str:
    '''Pay an order back.'''
    return f"{order_id} was paid back."


support = Agent("support", title="Support", description="Answers buyers.", icon="🛟", handoffs=["billing"])
billing = Agent("billing", title="Billing", description="Pays money back.", icon="💶", tools=[refund])
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    if not WEB.is_file():
        pytest.skip("the web app is not built; `make setup` builds it")
    running = Server(tmp_path_factory.mktemp("handoffs"), configuration=QUICK)
    (running.folder / "agents").mkdir()
    (running.folder / "agents" / "shop.py").write_text(SHOP)
    running.start()
    yield running
    running.end()


def send(page: Page, text: str) -> None:
    page.get_by_label("Message", exact=True).fill(text)
    page.get_by_label("Message", exact=True).press("Enter")


@pytest.mark.parametrize("width", [1280, 390])
def test_the_conversation_goes_on_with_the_other_agent_below_a_line_that_says_so(
    open_page: OpenPage, server: Server, width: int
) -> None:
    page = open_page("/", viewport={"width": width, "height": 800})
    page.get_by_role("button", name="Agent: Chat").click()
    page.get_by_role("menuitem").filter(has_text="Support").click()
    send(page, f'/call transfer_to_billing {{"reason": "{REASON}"}}')

    line = page.get_by_role("note", name="Handoff")
    expect(line).to_contain_text("Support handed over to Billing")
    expect(line).to_contain_text(REASON)
    page.get_by_role("region", name="Approval for refund").get_by_role("button", name="Approve", exact=True).click()
    answers = page.get_by_role("article", name="Answer")
    expect(answers).to_have_count(2)
    expect(answers.nth(1)).to_have_attribute("data-status", "complete")
    expect(answers.nth(1)).to_contain_text("B-17 was paid back.")
    expect(answers.nth(0).locator("[data-answer-agent]")).to_have_text("🛟Support")
    expect(answers.nth(1).locator("[data-answer-agent]")).to_have_text("💶Billing")
    expect(page.locator("[data-tool=transfer_to_billing]")).to_have_count(0)  # the line says it
    expect(page.get_by_role("button", name="Agent: Billing")).to_be_visible()
    assert "_01" not in line.inner_text(), "people read no ids"
    box = line.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width

    page.reload()
    expect(line).to_contain_text("Support handed over to Billing")
    expect(answers).to_have_count(2)
    expect(page.get_by_role("region", name="Queued messages")).to_have_count(0)

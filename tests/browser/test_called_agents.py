"""The work of agents that another one called: shown in its answer, approved there, and opened again later."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import QUICK, WEB, OpenPage, Server

pytestmark = pytest.mark.browser
SHOP = """
from outlast import Agent, Context, flow, tool


@tool(ask="Refunds need a person")
def refund(order_id: str) -> str:
    '''Pay an order back.'''
    return f"{order_id} was paid back."


desk = Agent("desk", title="Desk", tools=[refund], listed=False)


@flow("returns", title="Returns", description="Pays back what came back.")
async def returns(ctx: Context) -> str:
    order = await ctx.step("look at the parcel", lambda: "B-17")
    answer = await ctx.run(desk, '/call refund {"order_id": "%s"}' % order)
    return f"The desk says: {answer}"
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    if not WEB.is_file():
        pytest.skip("the web app is not built; `make setup` builds it")
    running = Server(tmp_path_factory.mktemp("called"), configuration=QUICK)
    (running.folder / "agents").mkdir()
    (running.folder / "agents" / "shop.py").write_text(SHOP)
    running.start()
    yield running
    running.end()


@pytest.mark.parametrize("width", [1280, 390])
def test_a_called_agent_shows_its_work_and_its_approval_in_the_answer_of_its_caller(
    open_page: OpenPage, server: Server, width: int
) -> None:
    page = open_page("/", viewport={"width": width, "height": 800})
    page.get_by_role("button", name="Agent: Chat").click()
    page.get_by_role("menuitem").filter(has_text="Returns").click()
    page.get_by_label("Message", exact=True).fill("A parcel came back.")
    page.get_by_label("Message", exact=True).press("Enter")
    card = page.get_by_role("region", name="Work of Desk")
    approval = card.get_by_role("region", name="Approval for refund")
    expect(approval).to_contain_text("Refunds need a person")
    expect(card.get_by_role("img", name="waiting for you")).to_be_visible()
    approval.get_by_role("button", name="Approve", exact=True).click()
    answer = page.get_by_role("article", name="Answer")
    expect(answer).to_have_attribute("data-status", "complete")
    expect(answer).to_contain_text("The desk says: ")
    expect(card.get_by_role("img", name="done")).to_be_visible()
    card.get_by_role("button").first.click()
    expect(card).to_contain_text("B-17 was paid back.")
    if width > 1000:  # the sidebar lists what people began, not what agents call
        expect(page.get_by_role("navigation").get_by_text("/call refund")).to_have_count(0)

"""Agents of the operator in the web app: chosen for a new thread and an open one, shown, allowed, and reloaded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import QUICK, WEB, OpenPage, Server

pytestmark = pytest.mark.browser
SHOP = """
from outlast import Agent

support = Agent("support", title="Support", description="Answers buyers and pays money back.", icon="🛟")
triage = Agent("triage", title="Triage", description="Sorts letters.")
"""
REFUNDS = """
from outlast import Agent, tool

@tool(ask="Refunds need a person")
def refund(order_id: str{more}) -> str:
    \"\"\"Pay money back to a buyer.\"\"\"
    return f"paid {{order_id}} ({{locals().get('reason', '')}})"

support = Agent("support", title="Support", description="Pays{more}.", tools=[refund])
"""
LOADED = "async (text) => (await (await fetch('/v1/agents')).text()).includes(text)"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    if not WEB.is_file():
        pytest.skip("the web app is not built; `make setup` builds it")
    running = Server(tmp_path_factory.mktemp("own"), configuration=f"{QUICK}\n[agents]\nreload = true\n")
    shop_of(running).parent.mkdir()
    shop_of(running).write_text(SHOP)
    running.start()
    yield running
    running.end()


def shop_of(server: Server) -> Path:
    return server.folder / "agents" / "shop.py"


def send(page: Page, text: str) -> None:
    page.get_by_label("Message", exact=True).fill(text)
    page.get_by_label("Message", exact=True).press("Enter")


def test_an_agent_is_chosen_for_a_new_thread_with_the_keyboard_and_another_one_answers_later(
    open_page: OpenPage, server: Server
) -> None:
    page = open_page("/")
    picker = page.get_by_role("button", name="Agent: Chat")
    picker.focus()
    picker.press("Enter")
    choice = page.get_by_role("menuitem").filter(has_text="Support")
    expect(choice).to_contain_text("Answers buyers and pays money back.")
    page.keyboard.press("ArrowDown")
    expect(choice).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Agent: Support")).to_be_visible()
    send(page, "Hello")
    answers = page.get_by_role("article", name="Answer")
    expect(answers.first).to_have_attribute("data-status", "complete")
    expect(answers.first.locator("[data-answer-agent]")).to_have_text("🛟Support")

    page.get_by_role("button", name="Agent: Support").click()
    page.get_by_role("menuitem").filter(has_text="Chat").click()
    expect(page.get_by_role("button", name="Agent: Chat")).to_be_visible()
    send(page, "And now you")
    expect(answers.nth(1)).to_have_attribute("data-status", "complete")
    expect(answers.nth(1).locator("[data-answer-agent]")).to_have_count(0)
    expect(answers.first.locator("[data-answer-agent]")).to_have_text("🛟Support")


def test_the_agents_fit_on_a_phone(open_page: OpenPage, server: Server) -> None:
    page = open_page("/", viewport={"width": 360, "height": 700})
    page.get_by_role("button", name="Agent: Chat").click()
    menu = page.get_by_role("menu")
    expect(menu.get_by_role("menuitem")).to_have_count(3)
    box = menu.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 360


def test_an_owner_writes_instructions_and_takes_an_agent_out_of_the_choice(open_page: OpenPage, server: Server) -> None:
    page = open_page("/")
    page.get_by_role("button", name="My project").click()
    page.get_by_role("menuitem", name="Agents and instructions").click()
    page.get_by_label("Instructions").fill("Prices are in euros.")
    page.get_by_role("checkbox", name="Triage").uncheck()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("button", name="Agent: Chat").click()
    refused = page.get_by_role("menuitem").filter(has_text="Triage")
    expect(refused).to_contain_text("Not allowed in this project")
    expect(refused).to_have_attribute("aria-disabled", "true")
    project = server.get("/v1/projects")["items"][0]["id"]
    chosen = server.get(f"/v1/projects/{project}/agents")
    assert chosen == {"allowed": ["chat", "support"], "instructions": "Prices are in euros."}


def test_a_broken_file_is_reported_in_the_page_until_it_loads_again(open_page: OpenPage, server: Server) -> None:
    page = open_page("/")
    expect(page.get_by_role("button", name="Agent: Chat")).to_be_visible()
    shop_of(server).write_text(f"{SHOP}\nrefunds = Agent('refunds', tools=[refund])\n")
    problem = page.get_by_role("alert").filter(has_text="agents/shop.py:7: NameError")
    expect(problem).to_be_visible()
    shop_of(server).write_text(f"{SHOP}\nrefunds = Agent('refunds', title='Refunds')\n")
    expect(problem).to_have_count(0)
    page.get_by_role("button", name="Agent: Chat").click()
    expect(page.get_by_role("menuitem").filter(has_text="Refunds")).to_be_visible()


def test_who_approves_is_told_that_the_tool_was_changed_and_why_it_refuses_the_call(
    open_page: OpenPage, server: Server
) -> None:
    page = open_page("/")

    def write(more: str) -> None:
        shop_of(server).write_text(REFUNDS.format(more=more))
        page.wait_for_function(LOADED, arg=f"Pays{more}.")
        page.reload()

    write("")
    page.get_by_role("button", name="Agent: Chat").click()
    page.get_by_role("menuitem").filter(has_text="Support").click()
    send(page, "Refund order B-17")
    card = page.locator("[data-approval]")
    expect(card.get_by_role("button", name="Approve", exact=True)).to_be_visible()
    expect(card.locator("[data-clock]")).to_have_count(0)  # the agent has no sandbox
    write(", reason: str")
    expect(card.locator("[data-tool-changed]")).to_contain_text("It refuses these arguments")
    write(", reason: str = ''")
    expect(card.locator("[data-tool-changed]")).to_contain_text("it runs as it is now")
    expect(card.locator("[data-tool-changed]")).not_to_contain_text("refuses")
    page.get_by_role("link", name="Inbox").click()
    page.get_by_role("button", name="Approve").click()  # refused there: the person has not seen the change
    card.get_by_role("button", name="Approve the changed tool").click()
    expect(page.get_by_role("article", name="Answer")).to_contain_text("paid B-17 ()")

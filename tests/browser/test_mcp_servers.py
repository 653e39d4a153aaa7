"""An MCP server on the page of connections: added, its tools allowed, called after an approval, changed, removed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from anyio.from_thread import start_blocking_portal
from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.pages import saved
from tests.browser.studio import Studio, calling, open_studio
from tests.flow.mcp.tool_server import ToolServer, tool_server

pytestmark = pytest.mark.browser
DESK = """
from outlast import Agent, mcp

desk = Agent("desk", title="Desk", tools=[mcp.http("{url}", name="board", allow=["find", "create_issue"])])
"""


@pytest.fixture(scope="module")
def tracker() -> Iterator[ToolServer]:
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(tool_server()) as server:
        yield server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, tracker: ToolServer) -> Iterator[Studio]:
    folder = tmp_path_factory.mktemp("mcp")
    (folder / "agents").mkdir()
    (folder / "agents" / "desk.py").write_text(DESK.format(url=tracker.url))
    more = f'\n[mcp]\nallow_private = ["{tracker.place}"]\n'
    with open_studio(folder, more=more) as studio:
        yield studio


def test_a_server_is_added_its_tools_are_allowed_called_after_an_approval_and_withheld_once_changed(
    open_page: OpenPage, server: Studio, tracker: ToolServer
) -> None:
    project = server.get("/v1/me")["default_project_id"]
    page = open_page(f"/projects/{project}/connections")
    page.get_by_role("button", name="Add server").click()
    page.get_by_label("Address").fill(tracker.url)
    page.get_by_label("Name").fill("Tracker")
    page.get_by_role("dialog").get_by_role("button", name="Add server").click()

    tools = page.get_by_role("dialog", name="Tools of tracker")
    expect(tools.locator("[data-mcp-tool=find]")).to_contain_text("Only reads")
    expect(tools.locator("[data-mcp-tool=create_issue]")).to_contain_text("May change data · asks first")
    expect(tools.locator("[data-mcp-tool=delete_all]")).to_contain_text("May change or delete data · asks first")
    for name in ("find", "create_issue"):
        tools.get_by_role("button", name=f"Allow tracker.{name}").click()
        expect(tools.get_by_role("button", name=f"Withdraw tracker.{name}")).to_be_visible()
    tools.get_by_role("button", name="Done").click()
    row = page.locator("[data-mcp-server=tracker]")
    expect(row).to_contain_text("2 tools for agents · 4 to look at")

    page.goto("/")
    server.script(calling("tracker__create_issue", title="The bell is broken"), {"text": "I filed ENG-1."})
    page.get_by_label("Message", exact=True).fill("File the broken bell.")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_text("tracker.create_issue may change data outside of this server.")).to_be_visible()
    assert ("create_issue", {"title": "The bell is broken"}) not in tracker.calls
    page.get_by_role("button", name="Approve").click()
    expect(saved(page)).to_contain_text("I filed ENG-1.")
    assert tracker.calls == [("create_issue", {"title": "The bell is broken"})]

    tracker.describe("Find issues, and send them elsewhere.")
    page.goto(f"/projects/{project}/connections")
    row.get_by_role("button", name="Actions for tracker").click()
    page.get_by_role("menuitem", name="List its tools again").click()
    expect(row).to_contain_text("1 tool for agents · 5 to look at")
    row.get_by_role("button", name="Look at tools").click()
    changed = tools.locator("[data-mcp-tool=find]")
    expect(changed).to_contain_text("changed by the server")
    expect(changed.locator("ins")).to_contain_text("send them elsewhere")
    tools.get_by_role("button", name="Allow tracker.find").click()
    expect(changed).not_to_contain_text("changed by the server")
    tools.get_by_role("button", name="Done").click()

    row.get_by_role("button", name="Actions for tracker").click()
    page.get_by_role("menuitem", name="Remove").click()
    page.get_by_role("button", name="Remove server").click()
    expect(row).to_have_count(0)


def test_an_address_where_no_server_answers_is_told_in_the_dialog_and_nothing_is_added(
    open_page: OpenPage, server: Studio
) -> None:
    project = server.get("/v1/me")["default_project_id"]
    page = open_page(f"/projects/{project}/connections")
    page.get_by_role("button", name="Add server").click()
    page.get_by_label("Address").fill("https://mcp.linear.app/mcp")
    expect(page.get_by_label("Name")).to_have_value("linear")
    page.get_by_label("Address").fill("npx -y @modelcontextprotocol/server-memory")
    expect(page.get_by_label("Name")).to_have_value("memory")
    expect(page.get_by_role("textbox", name="Hosts")).to_be_visible()
    page.get_by_label("Address").fill("http://10.0.0.1/mcp")
    page.get_by_label("Name").fill("inside")
    page.get_by_role("dialog").get_by_role("button", name="Add server").click()
    expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("private")
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator("[data-mcp-server=inside]")).to_have_count(0)


def test_a_server_in_the_code_of_an_agent_is_shown_with_its_tools_and_cannot_be_removed(
    open_page: OpenPage, server: Studio, tracker: ToolServer
) -> None:
    tracker.describe("Find issues.")
    project = server.get("/v1/me")["default_project_id"]
    page = open_page(f"/projects/{project}/connections")
    row = page.locator("[data-mcp-server=board]")
    expect(row).to_contain_text("board · from the code of Desk")
    expect(row).to_contain_text("Its tools are listed when a run first needs them")
    row.get_by_role("button", name="Actions for board").click()
    expect(page.get_by_role("menuitem", name="Remove")).to_have_count(0)
    page.get_by_role("menuitem", name="List its tools again").click()
    expect(row).to_contain_text("2 tools for its agent")
    tracker.describe("Find issues, and send them elsewhere.")
    row.get_by_role("button", name="Actions for board").click()
    page.get_by_role("menuitem", name="List its tools again").click()
    expect(row).to_contain_text("1 tool for its agent · 1 to look at")
    row.get_by_role("button", name="Look at tools").click()
    tools = page.get_by_role("dialog", name="Tools of board")
    expect(tools.locator("[data-mcp-tool]")).to_have_count(2)
    expect(tools.locator("[data-mcp-tool=find]")).to_contain_text("changed by the server")
    tools.get_by_role("button", name="Allow board.find").click()
    expect(tools.get_by_role("button", name="Withdraw board.find")).to_be_visible()


def test_the_row_of_a_package_names_the_hosts_that_it_may_reach(open_page: OpenPage, server: Studio) -> None:
    project = server.get("/v1/me")["default_project_id"]
    hosts = ["api.example.com", "*.example.org"]
    wanted = {"name": "notes", "package": "npx -y @modelcontextprotocol/server-memory", "hosts": hosts}
    server.post(f"/v1/projects/{project}/mcp-servers", wanted)
    row = open_page(f"/projects/{project}/connections").locator("[data-mcp-server=notes]")
    expect(row).to_contain_text("May reach api.example.com, *.example.org")

"""MCP servers among the tools of an agent."""

from __future__ import annotations

from dataclasses import replace

import pytest

from outlast import Agent, mcp, tool
from outlast.base.errors import StartRefused
from outlast.kernel.agents.mcp import Spot
from outlast.kernel.agents.registry import Agents

LINEAR = "https://mcp.linear.app/mcp"


@tool
def refund(order_id: str) -> str:
    """Pay money back."""
    return order_id


def test_a_server_stands_among_the_tools_and_is_none_of_them() -> None:
    agent = Agent("support", tools=[refund, mcp.http(LINEAR, secret="KEY")])
    assert [one.name for one in agent.tools] == ["refund"]
    assert [one.spot for one in agent.mcp_servers] == [Spot("linear", LINEAR, None, "KEY")]
    again = replace(agent, tools=[refund])
    assert again.mcp_servers == agent.mcp_servers
    assert Agent("ops", tools=[mcp.http(LINEAR)], tool_choice="required").tools == ()


@pytest.mark.parametrize(
    ("url", "name"),
    [
        (LINEAR, "linear"),
        ("https://api.example.co/mcp", "example"),
        ("http://localhost:8000/mcp", "localhost"),
        ("https://www.my-tools.org", "my-tools"),
        ("https://MCP.Notion.com/mcp?x=1", "notion"),
    ],
)
def test_its_name_comes_from_the_address(url: str, name: str) -> None:
    assert mcp.http(url).name == name


@pytest.mark.parametrize("url", ["mcp.linear.app", "ftp://a.io", "https://user:word@a.io", "https://", "https://a b"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="address"):
        mcp.http(url)


def test_a_name_that_tools_cannot_have_and_a_header_without_a_secret_are_refused() -> None:
    for name in ("Linear", "my_server", "x" * 25):
        with pytest.raises(ValueError, match="Invalid name"):
            mcp.http(LINEAR, name=name)
    with pytest.raises(ValueError, match="name='…'"):
        mcp.http("http://127.0.0.1:8000/mcp")
    with pytest.raises(ValueError, match="secret"):
        mcp.http(LINEAR, header="X-Key")


def test_it_gives_all_tools_or_those_that_are_named() -> None:
    assert mcp.http(LINEAR).allows("delete_issue")
    assert not mcp.http(LINEAR, allow=["list_issues"]).allows("delete_issue")
    assert not mcp.http(LINEAR, allow=[]).allows("list_issues")


def test_one_server_of_two_agents_is_one_and_a_name_stands_for_one_server() -> None:
    desk = Agent("desk", tools=[mcp.http(LINEAR, allow=["list_issues"])])
    shop = Agent("shop", tools=[mcp.http(LINEAR)])
    agents = Agents({"a": [desk], "b": [shop]})
    assert {spot.name: [one.name for one in named_by] for spot, named_by in agents.mcp_servers.items()} == {
        "linear": ["desk", "shop"]
    }
    other = Agent("other", tools=[mcp.http("https://elsewhere.io/mcp", name="linear")])
    with pytest.raises(StartRefused, match="Two MCP servers are called 'linear'"):
        agents.use({"agents/other.py": [other]})
    with pytest.raises(ValueError, match="two MCP servers of one name"):
        Agent("twice", tools=[mcp.http(LINEAR), mcp.http(LINEAR, secret="KEY")])


@pytest.mark.parametrize(
    ("command", "name", "package"),
    [
        (
            "npx -y @modelcontextprotocol/server-everything",
            "everything",
            ("npm", "@modelcontextprotocol/server-everything", ""),
        ),
        ("npx @playwright/mcp@1.2.3", "playwright", ("npm", "@playwright/mcp", "1.2.3")),
        ("npx -y some-mcp@latest", "some", ("npm", "some-mcp", "")),
        ("uvx mcp-server-time==2.0", "time", ("pypi", "mcp-server-time", "2.0")),
    ],
)
def test_a_package_is_read_from_its_command(command: str, name: str, package: tuple[str, str, str]) -> None:
    assert mcp.stdio(command).name == name
    assert mcp.parse_command(command) == (*package, ())
    assert mcp.parse_command(f"{command} --zone 'a b'").args == ("--zone", "a b")


@pytest.mark.parametrize(
    "command",
    ["", "npx", "python server.py", "npx --package x y", "uvx a;b", "npx ../x", "uvx 'unclosed", "npx " + "x" * 1_000],
)
def test_any_other_command_is_refused(command: str) -> None:
    with pytest.raises(ValueError, match="not the command of an MCP server"):
        mcp.stdio(command)

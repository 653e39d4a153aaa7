"""MCP servers that others publish, unmodified: installed from npm and PyPI, listed, and called."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Final, NamedTuple

import anyio
import pytest

from outlast.testing.model_server import ModelServer
from tests.crash.scenario import play
from tests.crash.server import CrashServer

pytestmark = [pytest.mark.sandbox, pytest.mark.deep, pytest.mark.timeout(900)]
PATIENCE_S: Final = 600.0  # npm takes its time on busy cores
LOOK_S: Final = 0.5
ALLOWED: Final = '[[policy]]\ntool = "*"\ndecision = "allow"\n'
GUIDE: Final = Path(__file__).parents[2] / "docs" / "guides" / "connect-mcp.md"
INDEXES: Final = {"npx": "https://registry.npmjs.org/{}", "uvx": "https://pypi.org/simple/{}/"}


class Real(NamedTuple):
    """A package, in the version that the guide says was tried; some of its tools; and calls, each with a part of what
    it answers."""

    name: str
    package: str
    version: str
    arguments: str
    tools: frozenset[str]
    calls: tuple[tuple[str, dict[str, object], str], ...]

    @property
    def command(self) -> str:
        sign = "npx -y {}@{}" if self.package.startswith("@") else "uvx {}=={}"
        return f"{sign.format(self.package, self.version)} {self.arguments}".strip()


OFFICIAL: Final = "@modelcontextprotocol/server-"
ADA: Final = {"name": "Ada", "entityType": "person", "observations": ["writes programs"]}
EVERYTHING: Final = Real(
    "everything",
    f"{OFFICIAL}everything",
    "2026.8.31",
    "",
    frozenset({"echo", "get-sum", "trigger-elicitation-request"}),
    (("echo", {"message": "hello"}, "hello"), ("get-sum", {"a": 19, "b": 23}, "42")),
)
OTHERS: Final = (
    Real(
        "files",
        f"{OFFICIAL}filesystem",
        "2026.8.31",
        "/workspace",
        frozenset({"write_file", "read_text_file", "list_directory"}),
        (
            ("write_file", {"path": "/workspace/note.txt", "content": "by a real server"}, "note.txt"),
            ("read_text_file", {"path": "/workspace/note.txt"}, "by a real server"),
        ),
    ),
    Real(
        "memory",
        f"{OFFICIAL}memory",
        "2026.8.31",
        "",
        frozenset({"create_entities", "read_graph"}),
        (("create_entities", {"entities": [ADA]}, "Ada"), ("read_graph", {}, "writes programs")),
    ),
    Real(
        "time",
        "mcp-server-time",
        "2026.10.19",
        "",
        frozenset({"get_current_time", "convert_time"}),
        (
            ("get_current_time", {"timezone": "UTC"}, "+00:00"),
            (
                "convert_time",
                {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"},
                "T21:00:00+09:00",
            ),
        ),
    ),
)


def demand_reachable(address: str) -> None:
    """Skips without it. A process of its own asks: the tests' reaches loopback only."""
    ask = f"import urllib.request; urllib.request.urlopen({address!r}, timeout=20).close()"
    asked = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=False)
    if asked.returncode:
        pytest.skip(f"{address} cannot be reached: {asked.stderr.strip().splitlines()[-1]}")


async def installed(server: CrashServer, server_id: str) -> Any:
    """The server with its tools, once they are listed."""
    with anyio.fail_after(PATIENCE_S):
        while True:
            found = await server.get(f"/v1/mcp-servers/{server_id}/tools")
            assert found["server"]["problem"] is None, found["server"]["problem"]
            if found["server"]["listed_at"] is not None:
                return found
            await anyio.sleep(LOOK_S)  # another process installs it: there is nothing to wait for


async def listed_and_called(real: Real, folder: Path) -> set[str]:
    """The names of the server's tools, once its calls have given what they should."""
    demand_reachable(INDEXES[real.command[:3]].format(real.package))
    turns = [
        {"text": "", "calls": [{"id": f"call_{at}", "name": f"{real.name}__{tool}", "arguments": arguments}]}
        for at, (tool, arguments, _) in enumerate(real.calls)
    ]
    async with ModelServer() as model, CrashServer(folder / "server", model.base_url, more=ALLOWED) as server:
        project = (await server.get("/v1/projects"))["items"][0]["id"]
        wanted = {"name": real.name, "package": real.command}
        status, added = await server.call("POST", f"/v1/projects/{project}/mcp-servers", wanted)
        assert status == 201, added
        found = await installed(server, added["server"]["id"])
        assert (found["server"]["version"], found["left_out"]) == (real.version, [])
        digests = {tool["name"]: tool["digest"] for tool in found["tools"]}
        status, answer = await server.call("POST", f"/v1/mcp-servers/{added['server']['id']}/allow", {"tools": digests})
        assert status == 200, answer
        played = await play(server, [*turns, {"text": "So."}], PATIENCE_S)
        parts = [part for part in played.fold().parts if part["type"] == "tool_call"]
        assert [part["status"] for part in parts] == ["done"] * len(real.calls), parts
        for part, (_, _, words) in zip(parts, real.calls, strict=True):
            assert words in str(part["result"])
        return set(digests)


def tools_of_the_guide() -> tuple[set[str], set[str]]:
    """The tools of server-everything that the guide's table names, and those that it says are not listed."""
    section = GUIDE.read_text().partition("## What is shown of an answer")[2].partition("\n## ")[0]
    named: tuple[set[str], set[str]] = set(), set()
    for line in section.splitlines():
        if line.startswith("| "):
            feature, _, shown = line[1:].partition("|")
            named["does not list these tools" in shown].update(re.findall(r"`([a-z-]+)`", feature))
    return named


@pytest.mark.parametrize("real", OTHERS, ids=[one.name for one in OTHERS])
async def test_a_published_server_is_installed_listed_and_called(real: Real, tmp_path: Path) -> None:
    assert real.version in GUIDE.read_text()
    assert real.tools <= await listed_and_called(real, tmp_path)


async def test_the_guide_names_every_tool_that_server_everything_lists_and_no_other(tmp_path: Path) -> None:
    listed, not_listed = tools_of_the_guide()
    assert f"server-everything` {EVERYTHING.version}" in GUIDE.read_text()
    found = await listed_and_called(EVERYTHING, tmp_path)
    assert found == listed
    assert not found & not_listed
    assert EVERYTHING.tools <= found

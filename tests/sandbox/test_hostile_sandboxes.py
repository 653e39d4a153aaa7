"""What happens inside sandboxes, and to them, never ends the server, nor keeps it from starting again."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from e2b import Sandbox

from tests.forked import Forked, run_outlast
from tests.sandbox.e2b_service import CONFIG

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(300)]
START_S = 60.0
WAIT_S = 60.0
NESTED = """
import os
for _ in range({depth}):
    os.mkdir("d")
    os.chdir("d")
"""


@dataclass
class Server:
    """`outlast serve` with its default sandboxes, whose end is noticed."""

    config: Path
    key: str = ""
    url: str = ""
    process: Forked | None = None

    @property
    def pid(self) -> int:
        assert self.process is not None
        assert self.process.poll() is None, "the server has ended"
        return self.process.pid

    @property
    def options(self) -> dict[str, Any]:
        return {"api_url": f"{self.url}/e2b", "sandbox_url": self.url, "api_key": self.key}

    @property
    def data(self) -> Path:
        return self.config.parent / "data"

    def start(self) -> None:
        log = self.config.with_suffix(".log")
        log.touch()
        before = len(log.read_text())
        self.process = Forked(["serve", "--config", str(self.config)], log)
        until = time.monotonic() + START_S
        while "is ready" not in (said := log.read_text()[before:]):
            assert self.process.poll() is None, said
            assert time.monotonic() < until, said
            time.sleep(0.02)
        self.url = next(line.split()[-1] for line in said.splitlines() if "is ready" in line)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait(60)

    def get(self, path: str) -> tuple[int, Any]:
        request = Request(self.url + path, headers={"Authorization": f"Bearer {self.key}"})
        try:
            with urlopen(request, timeout=20) as answer:
                return answer.status, json.load(answer)
        except HTTPError as error:
            return error.code, json.load(error)

    def is_well(self) -> bool:
        return self.get("/healthz")[0] == 200 and self.get("/readyz")[0] == 200


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    config = tmp_path / "outlast.toml"
    config.write_text(CONFIG.format(folder=tmp_path / "data"))
    running = Server(config, run_outlast("tokens", "create", "--config", str(config)).split()[-1])
    running.start()
    yield running
    if running.process is not None and running.process.poll() is None:
        for one in Sandbox.list(**running.options).next_items():
            Sandbox.kill(one.sandbox_id, **running.options)
    running.stop()


def agents(server: Server) -> list[int]:
    """The process that answers calls in each sandbox: the first one inside."""
    states = server.data.glob("**/state.json")
    shims = [int(json.loads(path.read_text())["pid"]) for path in states]
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            status = (folder / "status").read_text()
        except OSError:
            continue
        fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
        is_first_inside = fields.get("NSpid", "").split()[-1:] == ["1"] and len(fields["NSpid"].split()) > 1
        if is_first_inside and any(is_below(int(folder.name), shim) for shim in shims):
            found.append(int(folder.name))
    return found


def is_below(pid: int, ancestor: int) -> bool:
    while pid > 1:
        if pid == ancestor:
            return True
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            return False
    return False


def eventually(look: Any) -> None:
    until = time.monotonic() + WAIT_S
    while not look():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.1)


def test_folders_nested_three_thousand_deep_end_neither_the_server_nor_its_next_start(server: Server) -> None:
    """Removing them raised `RecursionError` in a background task, which ended the process at every start anew; and
    everybody's deletions were answered with 500 from then on."""
    pid = server.pid
    deep, other = (Sandbox.create(timeout=120, **server.options) for _ in range(2))
    deep.files.write("/home/user/nested.py", NESTED.format(depth=3_000))
    deep.commands.run("python3 nested.py", timeout=60)
    assert deep.kill()
    assert other.kill()
    eventually(lambda: not any((server.data / "workspaces").iterdir()))
    assert (server.pid, server.is_well()) == (pid, True)
    last = Sandbox.create(timeout=120, **server.options)
    last.files.write("/home/user/nested.py", NESTED.format(depth=3_000))
    last.commands.run("python3 nested.py", timeout=60)
    server.stop(signal.SIGKILL)
    server.start()
    assert last.sandbox_id
    assert Sandbox.kill(last.sandbox_id, **server.options)
    eventually(lambda: not any((server.data / "workspaces").iterdir()))
    assert server.is_well()


def test_a_sandbox_whose_agent_stands_still_is_replaced_at_the_next_start(server: Server) -> None:
    """An agent that dropped or never answered its server kept `outlast serve` from ever starting again."""
    still = Sandbox.create(timeout=600, **server.options)
    still.files.write("/home/user/kept.txt", "kept")
    (agent,) = agents(server)
    os.kill(agent, signal.SIGSTOP)
    server.stop(signal.SIGKILL)
    server.start()
    assert server.is_well()
    again = Sandbox.connect(still.sandbox_id, **server.options)
    assert again.files.read("/home/user/kept.txt") == "kept"
    assert agents(server) != [agent]
    assert server.is_well()


def test_a_sandbox_whose_agent_is_killed_costs_nobody_else_anything(server: Server) -> None:
    pid = server.pid
    broken, other = (Sandbox.create(timeout=600, **server.options) for _ in range(2))
    before = agents(server)
    assert len(before) == 2
    for agent in before:
        os.kill(agent, signal.SIGKILL)
    for one in (broken, other):
        assert one.commands.run("echo here").stdout == "here\n"
    assert set(agents(server)).isdisjoint(before)
    assert (server.pid, server.is_well()) == (pid, True)


@pytest.mark.parametrize(
    "cycles", [5, pytest.param(300, marks=[pytest.mark.deep, pytest.mark.timeout(3_600)])], ids=str
)
def test_sandboxes_are_made_paused_and_killed_by_four_clients_at_once(server: Server, cycles: int) -> None:
    """One that was killed while its way out was being opened raised `SandboxLost` in a task group of the program, and
    the server ended: after three cycles."""
    pid = server.pid

    def play(client: int) -> list[str]:
        troubles = []
        for cycle in range(cycles):
            try:
                made = Sandbox.create(timeout=120, **server.options)
                if (client + cycle) % 2:
                    made.pause()
                made.kill()
            except Exception as error:  # told below, with those of the others
                troubles.append(f"client {client}, cycle {cycle}: {error!r}")
            if server.get("/healthz")[0] != 200:
                troubles.append(f"client {client}, cycle {cycle}: the server is not well")
        return troubles

    with ThreadPoolExecutor(4) as clients:
        troubles = [one for told in clients.map(play, range(4)) for one in told]
    assert troubles == []
    assert (server.pid, server.is_well()) == (pid, True)
    assert server.get("/readyz?verbose")[1]["set_aside"] == []

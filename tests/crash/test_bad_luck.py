"""What a machine does to a server: another one on its folder, a full disk, a locked database, a reader asleep."""

from __future__ import annotations

import contextlib
import signal
import socket
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import orjson
import pytest

from outlast.testing.model_server import ModelServer
from tests.crash import kills
from tests.crash.conftest import MakeServer
from tests.crash.outcome import check_followed, check_ledger
from tests.crash.scenario import begin, follow, message, play
from tests.crash.server import CrashServer, until

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(600)]
REFUSED_TO_START = 2
DISK_MB = 48
LONG = [{"text": " ".join(f"word{n}" for n in range(150)), "delay_s": 0.03}]

# Some megabytes in few events: far more than the sockets between a server and its reader hold
_CALLS = [
    {"id": f"call_{n}", "name": "terminal", "arguments": {"command": "head -c 190000 /dev/zero | tr '\\0' x"}}
    for n in range(6)
]
LOUD: list[dict[str, Any]] = [{"calls": _CALLS}, {"calls": _CALLS}, {"calls": _CALLS}, {"text": "That was loud."}]


async def test_a_second_server_on_the_same_folder_is_refused_and_the_first_goes_on(make_server: MakeServer) -> None:
    first = make_server("first")
    async with first:
        assert first.process is not None
        second = make_server("second", data=first.data_dir, port=1)
        second.launch()
        assert await second.ended() == REFUSED_TO_START
        told = " ".join(second.log().split())
        assert f"in use by another Outlast process (pid {first.process.pid})" in told
        assert "--data-dir" in told, "what to do is said"
        assert "Traceback" not in told
        assert (await first.get("/healthz"))["status"] == "ok"
        await first.end(signal.SIGTERM)
        await first.start()  # the lock left with its owner


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, so small that it can be filled."""
    folder = tmp_path / "disk"
    folder.mkdir()
    size = f"size={DISK_MB}m"
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", str(folder)], check=False)
    if mounted.returncode:
        pytest.skip("mounting a small tmpfs needs root and CAP_SYS_ADMIN")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


async def test_a_full_disk_is_told_clearly_and_the_run_goes_on_when_there_is_space(
    make_server: MakeServer, model: ModelServer, small_disk: Path
) -> None:
    server = make_server(data=small_disk / "data", lease_s=2.0)
    async with kills.opened(server) as db:
        played = await begin(server, "full", message("full", LONG))
        followed = follow(server, played)
        async for event in followed:
            if event["event"] == "text.delta":
                break
        ballast = small_disk / "ballast"
        _fill(ballast)
        with anyio.fail_after(60):
            status, body = await _until_refused(server)
        assert (status, body["code"]) == (507, "disk_full")
        assert body["retry_after_s"] > 0
        assert "Traceback" not in server.log()
        ballast.unlink()
        async for _ in followed:
            pass
        assert played.fold().status == "completed"
        assert played.fold().parts[-1]["text"] == LONG[0]["text"]
        await check_followed(db, played)
        await check_ledger(db)
        told = (await server.get("/v1/threads/" + played.thread_id + "/messages"))["items"]
        assert [message["role"] for message in told] == ["user", "assistant"], "nothing is half done"


def _fill(ballast: Path) -> None:
    """Take all the space there is."""
    with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"\0" * 4096)


async def _until_refused(server: Any) -> tuple[int, Any]:
    """Post messages until the disk is too full for one more."""
    project = (await server.get("/v1/me"))["default_project_id"]
    while True:
        body = {"title": "filler " * 20}
        status, answer = await server.call("POST", f"/v1/projects/{project}/threads", body)
        if status != 201:
            return status, answer


@pytest.mark.parametrize("seconds", [2.0, pytest.param(14.0, marks=pytest.mark.deep, id="longer than SQLite waits")])
async def test_a_database_locked_by_somebody_else_holds_a_run_up_and_no_more(
    make_server: MakeServer, model: ModelServer, seconds: float
) -> None:
    server = make_server(lease_s=2.0)
    async with kills.opened(server) as db:
        reference = await kills.undisturbed(server, db, model)

        async def lock() -> None:
            await server.until_committed("_mark_started.change", 2)
            with contextlib.closing(sqlite3.connect(server.data_dir / "outlast.db", timeout=30)) as outside:
                outside.execute("BEGIN IMMEDIATE")
                await anyio.sleep(seconds)
                outside.rollback()

        async with anyio.create_task_group() as group:
            group.start_soon(lock)
            played = await play(server)
        # A long lock breaks the leg off: the model may be asked once more, as after a kill.
        await kills.compare(server, db, model, reference, played, kills=1)


async def test_a_reader_that_takes_nothing_is_closed_and_goes_on_from_its_cursor(
    make_server: MakeServer, model: ModelServer
) -> None:
    server = make_server(slow_reader_s=0.5)
    async with kills.opened(server) as db:
        played = await begin(server, "slow", message("slow", LOUD))
        seen = await _read_too_late(server, f"/v1/runs/{played.run_id}/events")
        played.events.extend((event["sequenceNumber"], event) for event in seen)
        assert played.fold().status != "completed", "it was closed in the middle"
        async for _ in follow(server, played):
            pass
        assert played.fold().status == "completed"
        await check_followed(db, played)


async def _read_too_late(server: CrashServer, path: str) -> list[dict[str, Any]]:
    """What a reader gets who takes nothing until the server has had enough of that."""
    sleeper = socket.socket()
    sleeper.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    with sleeper:
        sleeper.connect(("127.0.0.1", server.port))
        sleeper.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode())
        with anyio.fail_after(120):
            await until(lambda: "slow reader closed" in server.log())
        got = await anyio.to_thread.run_sync(_all, sleeper)
    lines = got.partition(b"\r\n\r\n")[2].split(b"\n\n")[:-1]  # what was cut off in the middle is no frame
    data = [line for frame in lines for line in frame.splitlines() if line.startswith(b"data: ")]
    return [orjson.loads(line[6:]) for line in data]


def _all(sleeper: socket.socket) -> bytes:
    """Everything that is still in the connection, up to its end or its reset."""
    got = b""
    with contextlib.suppress(ConnectionResetError):
        while block := sleeper.recv(1 << 20):
            got += block
    return got

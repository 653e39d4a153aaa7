"""What `/readyz` and `doctor` say of a server that is not well, of processes and files of their own."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import anyio
import pytest

from outlast.base.clock import SystemClock
from outlast.base.supervision.item_guard import SetAside
from outlast.db.connect import migrate, open_database
from outlast.kernel.cli.exits import Exit
from outlast.kernel.http import readiness
from outlast.kernel.http.readiness import Readiness
from outlast.kernel.set_aside import store
from outlast.kernel.set_aside.kinds import SOURCE
from outlast.testing.postgres import PostgresServer
from outlast_sandbox.interface import ProbeReport
from tests.flow.program.serving import CONFIG, served
from tests.flow.program.test_cli import outlast

REASON = "The repository at https://example.com/secret-name is gone."


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Of a server that has been set up."""
    file = tmp_path / "outlast.toml"
    file.write_text(CONFIG.format(folder=tmp_path / "data"))
    made = outlast("tokens", "create", "--config", str(file))
    assert made.returncode == Exit.OK, made.stderr
    return file


def get(address: str, path: str) -> tuple[int, Any]:
    try:
        with urlopen(f"{address}{path}", timeout=30) as answer:
            return answer.status, json.load(answer)
    except HTTPError as error:
        return error.code, json.load(error)


def ask_until(address: str, wanted: Callable[[int, Any], bool]) -> Any:
    """Ask `/readyz` until it answers as wanted; the answer."""
    pause, found = threading.Event(), None
    for _ in range(600):
        status, found = get(address, "/readyz")
        if wanted(status, found):
            return found
        pause.wait(0.1)
    raise AssertionError(f"it still says: {found}")


def set_aside(config: Path) -> None:
    async def add() -> None:
        db = open_database("sqlite:///outlast.db", config.parent / "data", SystemClock())
        try:
            await db.write(lambda tx: store.add(tx, SetAside(SOURCE, "src_1", tx.now, 5, "not_read", REASON)))
        finally:
            await db.aclose()

    anyio.run(add)


def test_what_is_set_aside_is_shown_by_doctor_with_and_by_readyz_without_its_reason(config: Path) -> None:
    told = outlast("doctor", "--config", str(config))
    assert "Set aside: nothing" in told.stdout
    set_aside(config)
    told = outlast("doctor", "--config", str(config))
    said = " ".join(told.stdout.split())
    assert told.returncode == Exit.FAILED
    assert "1 item failed repeatedly" in said
    assert f"src_1: {REASON} (not_read, since " in said
    with served(config) as address:
        status, short = get(address, "/readyz")
        assert (status, "set_aside" in short) == (200, False), "one item that fails makes nobody unready"
        status, found = get(address, "/readyz?verbose")
        assert status == 200
        (item,) = found["set_aside"]
        assert item.pop("since")
        assert item == {"kind": SOURCE, "id": "src_1", "tries": 5, "code": "not_read"}
        assert REASON not in json.dumps(found)
        vital = {one["name"] for one in found["services"] if one["is_vital"]}
        assert vital == {"claims of runs", "database", "http", "worker"}
        again = outlast("doctor", "--config", str(config))
        assert f"src_1: {REASON}" in " ".join(again.stdout.split()), "also beside the running server"


def test_a_server_whose_database_takes_no_write_is_unready_until_it_does_again(config: Path) -> None:
    file = config.parent / "data" / "outlast.db"
    with served(config) as address, closing(sqlite3.connect(file, isolation_level=None)) as other:
        assert get(address, "/readyz")[0] == 200
        other.execute("BEGIN IMMEDIATE")
        found = ask_until(address, lambda status, told: status == 503 and "database" in told["down"])
        assert found["status"] == "unavailable"
        assert get(address, "/healthz")[0] == 200
        other.execute("ROLLBACK")
        found = ask_until(address, lambda status, _: status == 200)
        assert (found["status"], found["down"]) == ("ok", [])


@pytest.mark.deep
@pytest.mark.postgres
def test_a_server_whose_postgresql_is_away_is_unready_until_it_is_back(
    tmp_path: Path, postgres: PostgresServer, postgres_url: str
) -> None:
    config = tmp_path / "outlast.toml"
    config.write_text(CONFIG.format(folder=tmp_path / "data") + f'[database]\nurl = "{postgres_url}"\n')
    with served(config) as address:
        assert get(address, "/readyz")[0] == 200
        postgres.stop()
        try:
            ask_until(address, lambda status, told: status == 503 and "database" in told["down"])
            assert get(address, "/healthz")[0] == 200
        finally:
            postgres.start()
        found = ask_until(address, lambda status, _: status == 200)
        assert found["down"] == []


class Silent:
    """A database that does not answer."""

    dialect = "sqlite"
    clock = SystemClock()

    async def write(self, *_: object) -> None:
        await anyio.sleep_forever()

    async def read(self, *_: object) -> None:
        await anyio.sleep_forever()


async def test_who_asks_whether_the_server_is_ready_gets_an_answer_although_the_database_gives_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A locked database held `/readyz` up for ten seconds and more."""
    monkeypatch.setattr(readiness, "ANSWER_S", 0.0)
    with anyio.fail_after(30):
        ready, told = await Readiness(Silent(), None).report(verbose=True)  # type: ignore[arg-type]
    assert not ready
    assert "has not answered" in told["database"]
    assert told["set_aside"] == []


class SlowTrial:
    """A provider of sandboxes whose trial ends when the test says so."""

    def __init__(self) -> None:
        self.has_begun, self.may_end = anyio.Event(), anyio.Event()

    async def probe(self) -> ProbeReport:
        self.has_begun.set()
        await self.may_end.wait()
        return ProbeReport(True, "namespaces")


async def test_a_load_balancer_does_not_wait_for_the_trial_of_a_sandbox_and_is_told_its_result_later(
    tmp_path: Path,
) -> None:
    """The first probe of a new server waited for a whole sandbox; a stuck container engine held every probe up."""
    db, provider = open_database("sqlite:///outlast.db", tmp_path, SystemClock()), SlowTrial()
    asked = Readiness(db, provider)  # type: ignore[arg-type]
    try:
        await migrate(db)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(asked.run)
            with anyio.fail_after(30):
                ready, told = await asked.report()
                assert (ready, told["sandbox"]["isolation"]) == (True, "unchecked")
                await provider.has_begun.wait()
                assert (await asked.report())[0]
                provider.may_end.set()
                _, told = await asked.report(verbose=True)
                assert told["sandbox"]["isolation"] == "namespaces"
                assert (await asked.report())[1]["sandbox"]["isolation"] == "namespaces"
            tasks.cancel_scope.cancel()
    finally:
        await db.aclose()

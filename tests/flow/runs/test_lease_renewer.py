"""Leases are renewed by a thread, whatever the event loop does."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from outlast.base.supervision import loop_watch
from outlast.base.supervision.loop_watch import LoopWatch
from outlast.db.database import Database, Tx
from outlast.kernel.agents.context import Context
from outlast.kernel.runs import claims, lease_renewer, leases, store
from outlast.kernel.runs.lease_renewer import LeaseRenewer
from outlast.kernel.runs.settings import RunSettings
from outlast.kernel.settings import Settings
from outlast.testing.agents import FakeTool
from outlast.testing.scripted_model import Call, turn
from tests.factories import make_services
from tests.flow.harness import stage

PATIENCE_S = 60.0
OFTEN = Settings(runs=RunSettings(lease_s=30, heartbeat_s=0.1))
TURNS = [turn("I use it.", Call("tool")), turn("Done.")]


class Counter:
    """Counts calls from any thread."""

    def __init__(self) -> None:
        self._news, self.count = threading.Condition(), 0

    def add(self) -> None:
        with self._news:
            self.count += 1
            self._news.notify_all()

    def wait_more(self, more: int) -> None:
        """Blocks until there were so many more."""
        with self._news:
            wanted = self.count + more
            assert self._news.wait_for(lambda: self.count >= wanted, PATIENCE_S)


@pytest.fixture
def renewals(monkeypatch: pytest.MonkeyPatch) -> Counter:
    found, renew = Counter(), leases.renew_leases

    def counted(*args: Any) -> Any:
        found.add()
        return renew(*args)

    monkeypatch.setattr(leases, "renew_leases", counted)
    return found


@pytest.fixture
def pings(monkeypatch: pytest.MonkeyPatch) -> Counter:
    found, ping = Counter(), LoopWatch.ping

    def counted(watch: LoopWatch) -> bool:
        answers = ping(watch)
        found.add()
        return answers

    monkeypatch.setattr(LoopWatch, "ping", counted)
    return found


async def test_a_tool_that_blocks_the_event_loop_keeps_its_run(db: Database, tmp_path: Path, renewals: Counter) -> None:
    async def blocks(_context: Context, _arguments: Mapping[str, Any]) -> str:
        renewals.wait_more(3)
        return "done"

    tool = FakeTool("tool", blocks, repeatable=False)
    async with stage(db, tmp_path, TURNS, tool, settings=OFTEN) as it:
        started = await it.start()
        assert await it.ended(started.run_id) == "completed"
        run = await db.read(store.run_of, started.run_id)
        assert (run.attempt, run.deaths, len(tool.calls)) == (1, 0, 1)


async def test_a_loop_that_is_blocked_for_too_long_renews_nothing_until_it_runs_again(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, renewals: Counter, pings: Counter
) -> None:
    monkeypatch.setattr(loop_watch, "LOST_S", 0.3)
    lost, before = threading.Event(), []

    class Heard(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if "has been blocked" in record.getMessage():
                lost.set()

    async def blocks(_context: Context, _arguments: Mapping[str, Any]) -> str:
        assert lost.wait(PATIENCE_S)
        pings.wait_more(1)  # the round in which it was lost is over
        before.append(renewals.count)
        pings.wait_more(5)
        before.append(renewals.count)
        return "done"

    async def works(_context: Context, _arguments: Mapping[str, Any]) -> str:
        await anyio.to_thread.run_sync(renewals.wait_more, 1)
        return "done"

    log, heard = logging.getLogger("outlast.loop"), Heard()
    log.addHandler(heard)
    try:
        turns = [turn("I use both.", Call("tool")), turn("And now.", Call("other")), turn("Done.")]
        tools = FakeTool("tool", blocks), FakeTool("other", works)
        async with stage(db, tmp_path, turns, *tools, settings=OFTEN) as it:
            started = await it.start()
            assert await it.ended(started.run_id) == "completed"
    finally:
        log.removeHandler(heard)
    assert before[0] == before[1]


async def test_a_leg_whose_run_another_node_has_is_cancelled(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease_renewer, "CONFIRM_S", 0)
    begun, cancelled = anyio.Event(), anyio.Event()

    async def waits(_context: Context, _arguments: Mapping[str, Any]) -> str:
        begun.set()
        try:
            await anyio.sleep_forever()
        finally:
            cancelled.set()
        return ""

    def take_over(tx: Tx) -> None:
        leases.free_lapsed(tx, everything=True)
        claims.claim_ready(tx, "other", timedelta(seconds=60), 1)

    async with stage(db, tmp_path, TURNS, FakeTool("tool", waits), settings=OFTEN) as it:
        started = await it.start()
        await begun.wait()
        await db.write(take_over)
        await cancelled.wait()
        run = await db.read(store.run_of, started.run_id)
        assert (run.attempt, run.leg) == (2, "held")


async def test_the_thread_sleeps_until_a_leg_begins(db: Database, tmp_path: Path, pings: Counter) -> None:
    engine = replace(make_services(db, tmp_path).engine, settings=OFTEN)
    legs: list[tuple[str, int]] = []
    renewer = LeaseRenewer(engine, lambda: tuple(legs), lambda _: None)
    async with anyio.create_task_group() as group:
        group.start_soon(renewer.run)
        while renewer._wake is None:
            await anyio.lowlevel.checkpoint()
        assert pings.count == 0
        legs.append(("run_1", 1))
        renewer.wake()
        await anyio.to_thread.run_sync(pings.wait_more, 2)
        legs.clear()
        while renewer._wake is None:  # type: ignore[unreachable]  # another task sets it
            await anyio.lowlevel.checkpoint()
        group.cancel_scope.cancel()
    assert not [thread for thread in threading.enumerate() if thread.name == "lease-renewer"]

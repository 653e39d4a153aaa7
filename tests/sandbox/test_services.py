"""Declared services in real sandboxes: started, checked, started again, and there again after every sleep."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from outlast.base.ids import new_id
from outlast.db.database import Database
from outlast.kernel.sandboxes import store as sandbox_rows
from outlast.kernel.sandboxes.idle_policy import step_down
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.sandboxes.orphans import collect, reconcile
from outlast.kernel.sandboxes.rows import ServiceRow
from outlast.kernel.sandboxes.rules import State
from outlast.kernel.sandboxes.services import store
from outlast.kernel.sandboxes.services.keeper import ServiceKeeper
from outlast.kernel.sandboxes.services.logs import ServiceLogs
from outlast.kernel.sandboxes.services.rules import Declared
from outlast_sandbox.providers.local.provider import LocalProvider
from tests.sandbox.test_manager import House

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(180)]
WEB = Declared("web", 'echo serving; exec python3 -u -m http.server --bind 127.0.0.1 "$PORT"', 3000, "/")
WAIT_S = 40.0


class Works(House):
    """A house with a manager and a keeper at work over real sandboxes."""

    machines: SandboxManager
    keeper: ServiceKeeper

    async def service(self, name: str = "web") -> ServiceRow:
        return await self.db.read(store.service_of, self.workspace_id, name)

    async def settled(self, name: str = "web") -> ServiceRow:
        return await self.keeper.wait_settled(self.workspace_id, name, WAIT_S)

    async def answer(self) -> bytes:
        """What the web service answers."""
        sandbox = await self.machines.ensure(self.workspace_id, self.project_id)
        with await sandbox.dial(3000) as connection:
            connection.setblocking(True)
            return await anyio.to_thread.run_sync(_asked, connection)


@pytest.fixture
async def works(db: Database, tmp_path: Path) -> Works:
    house = Works(db, tmp_path / "data")
    await house.furnish()
    return house


@asynccontextmanager
async def server(works: Works, local: LocalProvider) -> AsyncIterator[None]:
    """One life of the server: its manager and its keeper; the sandboxes live on."""
    provider = LocalProvider(local.state_dir, local.cache_dir)
    works.machines = works.manager(provider)
    logs = ServiceLogs(works.data_dir / "services")
    works.keeper = ServiceKeeper(works.db, works.clock, logs, find=works.machines.find)
    works.machines.attend(works.keeper)
    async with anyio.create_task_group() as tasks:
        await tasks.start(works.keeper.run)
        await reconcile(works.machines)
        yield
        tasks.cancel_scope.cancel()
    await works.machines.aclose()


async def test_a_service_is_started_with_its_sandbox_and_answers(works: Works, local: LocalProvider) -> None:
    async with server(works, local):
        await works.keeper.declare(works.workspace_id, WEB)
        assert (await works.service()).state == "stopped"
        await works.machines.ensure(works.workspace_id, works.project_id)
        assert (await works.settled()).state == "healthy"
        assert b"200" in await works.answer()
        await until(lambda: _true("GET /" in works.keeper.output(works.workspace_id, "web", 1000)))
        assert works.keeper.output(works.workspace_id, "web", 1000).startswith("serving\n")


async def test_a_service_that_is_killed_is_started_again(works: Works, local: LocalProvider) -> None:
    async with server(works, local):
        await works.machines.ensure(works.workspace_id, works.project_id)
        await works.keeper.declare(works.workspace_id, WEB)
        assert (await works.settled()).state == "healthy"
        await works.run(works.machines, "pkill -9 -f http.server", "eff_1")

        async def again() -> bool:
            row = await works.service()
            return row.state == "healthy" and row.restarts == 1

        await until(again)
        assert b"200" in await works.answer()


async def test_a_frozen_service_answers_after_the_thaw_and_a_stopped_one_is_started_again(
    works: Works, local: LocalProvider
) -> None:
    async with server(works, local):
        await works.machines.ensure(works.workspace_id, works.project_id)
        await works.keeper.declare(works.workspace_id, WEB)
        await works.settled()
        await works.machines.freeze(works.workspace_id)
        assert (await works.service()).state == "healthy", "it is asleep with its sandbox, and well"
        assert b"200" in await works.answer()
        assert (await works.service()).restarts == 0
        await works.machines.stop(works.workspace_id)
        assert (await works.service()).state == "stopped"
        await works.machines.ensure(works.workspace_id, works.project_id)
        assert (await works.settled()).state == "healthy"
        assert b"200" in await works.answer()


async def test_the_next_server_takes_a_running_service_up_without_starting_it_again(
    works: Works, local: LocalProvider
) -> None:
    async with server(works, local):
        await works.machines.ensure(works.workspace_id, works.project_id)
        await works.keeper.declare(works.workspace_id, WEB)
        await works.settled()
        before = await works.run(works.machines, "pgrep -f http.server | head -1", "eff_1")
    async with server(works, local):
        assert b"200" in await works.answer()
        assert await works.run(works.machines, "pgrep -f http.server | head -1", "eff_2") == before
        await until(lambda: _true(works.keeper.output(works.workspace_id, "web", 9000).count("GET /") >= 2))
        assert (await works.service()).restarts == 0


async def test_a_service_that_cannot_run_is_given_up_with_the_end_of_its_output(
    works: Works, local: LocalProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("outlast.kernel.sandboxes.services.rules.DELAYS_S", (0.01,))
    async with server(works, local):
        await works.machines.ensure(works.workspace_id, works.project_id)
        await works.keeper.declare(works.workspace_id, Declared("bad", "echo no such thing; exit 3", 4000))
        row = await works.settled("bad")
        assert row.state == "failed"
        assert row.error is not None
        assert row.error.startswith("It ended with exit code 3.\n")
        assert "no such thing" in row.error


async def test_a_changed_declaration_replaces_what_runs_and_a_removed_one_ends_it(
    works: Works, local: LocalProvider
) -> None:
    async with server(works, local):
        await works.machines.ensure(works.workspace_id, works.project_id)
        await works.keeper.declare(works.workspace_id, WEB)
        await works.settled()
        other = Declared("web", "echo other; exec python3 -u -m http.server --bind 127.0.0.1 3000", 3000)
        await works.keeper.declare(works.workspace_id, other)
        assert store.declared_by(await works.settled()) == other
        assert "other\n" in works.keeper.output(works.workspace_id, "web", 9000)
        assert await works.run(works.machines, "pgrep -c -f http.server", "eff_1") == "1\n"
        await works.keeper.remove(works.workspace_id, "web")
        assert await works.run(works.machines, "pgrep -c -f http.server", "eff_2") == "0\n"
        assert await works.db.read(store.services_of, works.workspace_id) == []


async def test_what_was_changed_or_removed_while_the_sandbox_slept_counts_when_it_wakes(
    works: Works, local: LocalProvider
) -> None:
    other = Declared("other", "exec sleep 1000", 4000)
    async with server(works, local):
        await works.machines.ensure(works.workspace_id, works.project_id)
        await works.keeper.declare(works.workspace_id, WEB)
        await works.keeper.declare(works.workspace_id, other)
        await works.settled()

        async def sleeps() -> bool:
            return await works.run(works.machines, "pgrep -c sleep", new_id("effect")) == "1\n"

        await until(sleeps)
        await works.machines.freeze(works.workspace_id)
        await works.keeper.declare(works.workspace_id, replace(WEB, command=f"echo changed; {WEB.command}"))
        await works.keeper.remove(works.workspace_id, "other")
        await works.machines.ensure(works.workspace_id, works.project_id)
        await works.settled()
        assert "changed\n" in works.keeper.output(works.workspace_id, "web", 9000)

        async def gone() -> bool:
            return await works.run(works.machines, "pgrep -c sleep", new_id("effect")) == "0\n"

        await until(gone)
        assert await works.run(works.machines, "pgrep -c -f http.server", new_id("effect")) == "1\n"


async def test_a_sandbox_that_vanishes_is_found_lost_and_the_service_starts_in_the_next_one(
    works: Works, local: LocalProvider
) -> None:
    async with server(works, local):
        sandbox = await works.machines.ensure(works.workspace_id, works.project_id)
        await works.keeper.declare(works.workspace_id, WEB)
        await works.settled()
        await (await local.connect(sandbox.sandbox_id, sandbox.ref)).kill()

        async def lost() -> bool:
            row = await works.db.read(sandbox_rows.newest, works.workspace_id)
            return row is not None and row.life.state is State.LOST

        await until(lost)
        assert (await works.service()).state == "stopped"
        await works.machines.ensure(works.workspace_id, works.project_id)
        assert (await works.settled()).state == "healthy"
        assert "context.lost" in await works.told()


@pytest.mark.parametrize("lives", [3, pytest.param(60, marks=pytest.mark.deep)])
async def test_many_lives_leave_no_task_no_descriptor_and_no_process(
    works: Works, local: LocalProvider, lives: int
) -> None:
    def open_files() -> int:
        return len(os.listdir("/proc/self/fd"))

    async with server(works, local):
        await works.keeper.declare(works.workspace_id, WEB)
        for number in range(lives):
            await works.machines.ensure(works.workspace_id, works.project_id)
            assert (await works.settled()).state == "healthy"
            await works.machines.freeze(works.workspace_id)
            await works.machines.ensure(works.workspace_id, works.project_id)
            await (works.machines.stop if number % 2 else works.machines.kill)(works.workspace_id)
            if number == 0:
                before = open_files()
        await until(lambda: _true(open_files() <= before + 2))
        assert works.keeper.statistics() == {"awake": 0, "kept": 0}
        assert await local.list_refs() == []


async def test_services_of_a_deleted_thread_end_with_it(works: Works, local: LocalProvider) -> None:
    async with server(works, local):
        await works.machines.ensure(works.workspace_id, works.project_id)
        await works.keeper.declare(works.workspace_id, WEB)
        await works.settled()
        await works.db.write(sandbox_rows.give_up, works.project_id)
        await collect(works.machines)
        assert works.keeper.statistics() == {"awake": 0, "kept": 0}
        assert await local.list_refs() == []
        assert works.keeper.output(works.workspace_id, "web", 1000) == ""


async def test_services_alone_do_not_keep_a_sandbox_awake(works: Works, local: LocalProvider) -> None:
    from datetime import timedelta

    async with server(works, local):
        await works.machines.ensure(works.workspace_id, works.project_id)
        await works.keeper.declare(works.workspace_id, WEB)
        await works.settled()
        works.clock.shift = timedelta(seconds=works.machines.settings.idle_pause_s + 1)
        await step_down(works.machines)
        row = await works.db.read(sandbox_rows.newest, works.workspace_id)
        assert row is not None
        assert row.life.state is State.PAUSED


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    """Wait for it, up to a minute."""
    with anyio.fail_after(WAIT_S):
        while not await condition():  # noqa: ASYNC110 - a process outside says nothing when it is done
            await anyio.sleep(0.02)


async def _true(value: bool) -> bool:
    return value


def _asked(connection: object) -> bytes:
    import socket

    assert isinstance(connection, socket.socket)
    connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
    return connection.recv(4096)

"""Sandboxes that every server reaches: processes, variables and files stay while different servers work with them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import anyio
import pytest

from outlast.base.errors import OutlastError, SandboxLost
from outlast.db.database import Tx
from outlast.kernel.sandboxes import leases, store
from outlast.kernel.sandboxes.idle_policy import step_down
from outlast.kernel.sandboxes.orphans import SWEEP, reconcile, sweep
from outlast.kernel.sandboxes.rules import PauseKind, State
from tests.sandbox.e2b_service import E2bService
from tests.sandbox.two_servers import SETTINGS, Fleet, Place, opening_servers

pytestmark = [pytest.mark.sandbox, pytest.mark.postgres]


@pytest.fixture
async def fleet(reused_postgres_url: str, tmp_path: Path, e2b_service: E2bService) -> AsyncIterator[Fleet]:
    async with opening_servers(reused_postgres_url, tmp_path, e2b_service) as fleet:
        yield fleet


async def _variables_stay(fleet: Fleet, times: int) -> None:
    a, b = await fleet.open("a"), await fleet.open("b")
    place = await fleet.place()
    await a.python(place, "kept = 0")
    first = await fleet.row(place)
    for number in range(times):
        writer, reader = (a, b) if number % 2 else (b, a)
        await writer.python(place, f"kept = kept + 1; name = {number}")
        read = await reader.python(place, "[kept, name]")
        assert read.result == [number + 1, number], read
    assert (await fleet.row(place)).id == first.id


async def test_a_variable_that_one_server_sets_another_reads(fleet: Fleet) -> None:
    await _variables_stay(fleet, 20)


@pytest.mark.deep
async def test_a_variable_that_one_server_sets_another_reads_a_hundred_times(fleet: Fleet) -> None:
    await _variables_stay(fleet, 100)


async def test_servers_that_need_a_sandbox_at_once_make_one(fleet: Fleet) -> None:
    servers = [await fleet.open(name) for name in "abc"]
    place = await fleet.place()
    seen: list[str] = []

    async def work(number: int) -> None:
        server = servers[number % 3]
        await server.shell(place, f"echo {number} >> lines.txt")
        seen.append((await server.sandbox(place)).ref)

    async with anyio.create_task_group() as tasks:
        for number in range(9):
            tasks.start_soon(work, number)
    assert len(set(seen)) == 1
    assert sorted((await servers[0].shell(place, "cat lines.txt")).split()) == [str(number) for number in range(9)]
    assert [ref for _, ref in await servers[0].machines.provider.list_refs()] == seen[:1]


async def test_one_that_a_server_put_to_sleep_another_wakes(fleet: Fleet) -> None:
    a, b = await fleet.open("a"), await fleet.open("b")
    place = await fleet.place()
    await a.python(place, "kept = 1")
    await b.python(place, "kept += 1")
    await a.machines.freeze(place.workspace_id)
    assert (await fleet.row(place)).life.pause_kind is PauseKind.FROZEN
    assert (await b.python(place, "kept")).result == 2
    await b.machines.freeze(place.workspace_id)
    assert (await a.python(place, "kept")).result == 2
    await a.machines.stop(place.workspace_id)
    stopped = await fleet.row(place)
    assert not (await b.python(place, "kept")).success  # processes end with a stop
    assert (await fleet.row(place)).fence > stopped.fence
    assert (await a.python(place, "1 + 1")).result == 2  # not with its handle on the one that was stopped


async def test_timers_and_sweeps_of_one_server_leave_what_another_uses(fleet: Fleet) -> None:
    a, b = await fleet.open("a"), await fleet.open("b")
    place = await fleet.place()
    await a.python(place, "kept = 1")
    a.clock.shift = b.clock.shift = timedelta(seconds=SETTINGS.kill_after_s * 2)
    assert (await b.python(place, "kept")).result == 1  # counts as a use, for both
    await step_down(a.machines)
    await reconcile(b.machines)
    await sweep(a.machines)
    assert (await b.python(place, "kept")).result == 1


async def test_only_one_server_sweeps_and_the_next_one_later(fleet: Fleet) -> None:
    a, b = await fleet.open("a"), await fleet.open("b")
    async with a.machines.alone(SWEEP, 60) as at_a, b.machines.alone(SWEEP, 60) as at_b:
        assert (at_a, at_b) == (True, False)
    async with b.machines.alone(SWEEP, 60) as at_b:
        assert not at_b
    b.clock.shift = timedelta(seconds=61)
    async with b.machines.alone(SWEEP, 60) as at_b:
        assert at_b


async def test_a_sandbox_without_a_row_is_ended_whichever_server_made_it(fleet: Fleet) -> None:
    a, b = await fleet.open("a"), await fleet.open("b")
    place = await fleet.place()
    await a.shell(place, "true")
    await a.machines.lives.change(await _held(fleet, place, "a"), State.LOST)
    await sweep(b.machines)
    assert await b.machines.provider.list_refs() == []


async def _held(fleet: Fleet, place: Place, name: str) -> store.SandboxRecord:
    """The row, with the lease on its changes in the hands of this server."""
    await fleet.opened[0].db.write(leases.take, leases.STEP + place.workspace_id, f"node_{name}", timedelta(seconds=60))
    return await fleet.row(place)


async def test_a_start_of_a_server_that_died_is_done_by_another_once_its_lease_has_lapsed(fleet: Fleet) -> None:
    a, b = await fleet.open("a"), await fleet.open("b")
    place = await fleet.place()

    def begin(tx: Tx) -> None:
        leases.take(tx, leases.STEP + place.workspace_id, "node_a", timedelta(seconds=60))
        store.add(tx, place.workspace_id, place.project_id, "e2b", None)

    await a.db.write(begin)
    begun = await fleet.row(place)
    with anyio.move_on_after(1) as waiting:
        await b.sandbox(place)
    assert waiting.cancelled_caught
    b.clock.shift = timedelta(seconds=61)
    assert (await b.sandbox(place)).sandbox_id != begun.id
    with pytest.raises(OutlastError):  # the one that was only suspended records nothing any more
        await a.machines.lives.change(begun, State.READY, ref="late")


async def test_late_files_of_an_earlier_start_are_refused(fleet: Fleet) -> None:
    a, b = await fleet.open("a"), await fleet.open("b")
    place = await fleet.place()
    old = await a.sandbox(place)
    await a.shell(place, "echo kept > file.txt")
    await a.files.take(place.workspace_id, "tool", sandbox=old)
    row = await _held(fleet, place, "b")
    await b.machines.lives.lose(row)  # as if b could not reach it for long enough
    assert await b.shell(place, "cat file.txt") == "kept\n"
    await b.shell(place, "echo newer > file.txt")
    await b.files.take(place.workspace_id, "tool")
    with pytest.raises(SandboxLost):
        await a.files.take(place.workspace_id, "tool", sandbox=old)
    assert await a.shell(place, "cat file.txt") == "newer\n"
    await sweep(a.machines)
    assert [one for one, _ in await a.machines.provider.list_refs()] == [(await fleet.row(place)).id]


async def _files_stay(fleet: Fleet, times: int) -> None:
    a, b = await fleet.open("a"), await fleet.open("b")
    place = await fleet.place()
    for number in range(times):
        one, other = (a, b) if number % 2 else (b, a)
        await one.shell(place, f"echo {number} >> lines.txt")
        one.files.changed(place.workspace_id, None, None)  # as each tool call does
        await one.files.settled(place.workspace_id)
        assert fleet.service is not None
        await fleet.kill_at_service(place)
        assert await other.shell(place, "cat lines.txt") == "".join(f"{line}\n" for line in range(number + 1))


async def test_files_stay_when_their_sandbox_is_killed_at_the_service(fleet: Fleet) -> None:
    await _files_stay(fleet, 10)


@pytest.mark.deep
async def test_files_stay_when_their_sandbox_is_killed_at_the_service_a_hundred_times(fleet: Fleet) -> None:
    await _files_stay(fleet, 100)

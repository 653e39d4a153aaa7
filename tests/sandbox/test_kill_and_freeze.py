"""Ending and stopping real sandboxes: nothing stays behind, nothing runs on."""

from __future__ import annotations

from pathlib import Path

import anyio
import psutil
import pytest

from outlast_sandbox.interface import Command, Evaluation
from outlast_sandbox.providers.local.provider import LocalProvider
from outlast_sandbox.providers.local.sandbox import LocalSandbox
from tests.sandbox.conftest import state_of

pytestmark = pytest.mark.sandbox


async def test_kill_leaves_no_process_no_group_and_no_file_but_the_workspace(
    local: LocalProvider, box: LocalSandbox, tmp_path: Path
) -> None:
    script = "echo kept > kept.txt; (setsid sh -c 'sleep 1000 & sleep 1000' &) ; sleep 1000 & echo begun"
    await box.run(Command("eff_1", 1, script))
    await box.evaluate(Evaluation("eff_2", 1, "typescript", "1"))
    state = state_of(local, box.sandbox_id)
    inside = state.group.processes()
    assert len(inside) >= 5
    await box.kill()
    assert [pid for pid in inside if _runs(pid)] == []
    assert not state.is_alive()
    assert not state.group.exists()
    assert not (local.state_dir / box.sandbox_id).exists()
    assert (tmp_path / "workspace" / "kept.txt").read_text() == "kept\n"


def _runs(pid: int) -> bool:
    """Whether it is there and more than an entry that its new parent has yet to collect."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


async def test_a_frozen_sandbox_can_be_killed(local: LocalProvider, box: LocalSandbox) -> None:
    state = state_of(local, box.sandbox_id)
    await box.run(Command("eff_1", 1, "sleep 1000 &"))
    await box.freeze()
    await box.kill()
    assert not state.group.exists()


@pytest.mark.parametrize("number", range(10))
async def test_killing_a_command_ends_children_that_left_its_session(box: LocalSandbox, number: int) -> None:
    """Once, a child amid its exec was overlooked: it has no environment at that moment, and so no mark."""
    script = "(setsid sh -c 'setsid sleep 1000 & sleep 1000' &); setsid sleep 1000 & echo begun; sleep 1000"
    begun = anyio.Event()
    async with anyio.create_task_group() as tasks:

        async def kill() -> None:
            await begun.wait()
            await anyio.sleep(number * 0.0005)  # a different moment each time, which is the point
            await box.kill_command("eff_1")

        tasks.start_soon(kill)
        await box.run(Command("eff_1", 1, script), lambda _text: begun.set())
    left = await box.run(Command("eff_2", 1, "ps -eo args | grep -c '[s]leep 1000'"))
    assert left.output == "0\n"


async def test_what_a_command_left_in_the_background_runs_on(box: LocalSandbox) -> None:
    result = await box.run(Command("eff_1", 1, "(while ! [ -e go ]; do sleep 0.01; done; echo done > done.txt) &"))
    assert result.exit_code == 0
    waited = "touch go; until [ -e done.txt ]; do sleep 0.01; done; cat done.txt"
    assert (await box.run(Command("eff_2", 1, waited))).output == "done\n"


async def test_nothing_runs_while_frozen_and_frozen_time_does_not_count(
    local: LocalProvider, box: LocalSandbox
) -> None:
    begun = anyio.Event()
    results = []
    async with anyio.create_task_group() as tasks:

        async def follow() -> None:
            command = Command("eff_1", 1, "echo begun; until [ -e go ]; do sleep 0.02; done", timeout_s=1.0)
            results.append(await box.run(command, lambda _text: begun.set()))

        tasks.start_soon(follow)
        await begun.wait()
        await box.freeze()
        before = await box.statistics()
        await anyio.sleep(1.2)  # longer than the time limit: this is what the test is about
        assert (await box.statistics()).cpu_s == before.cpu_s
        # Another handle, as after a restart of the server, must wake it just as well.
        other = await local.connect(box.sandbox_id, box.ref)
        await other.thaw()
        await other.write_files([("go", b"")])
    assert results[0].exit_code == 0
    assert not results[0].timed_out


async def test_statistics_show_what_the_sandbox_uses(box: LocalSandbox) -> None:
    await box.run(Command("eff_1", 1, "head -c 20000000 /dev/zero > /dev/shm/held; sleep 1000 & sleep 1000 &"))
    statistics = await box.statistics()
    assert statistics.processes >= 4
    assert statistics.memory_bytes > 20_000_000
    assert statistics.cpu_s > 0

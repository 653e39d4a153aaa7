"""Many sandboxes, one after the other, and many that are killed while they start, leave nothing behind."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from outlast_sandbox.errors import SandboxLost, SandboxUnavailable
from outlast_sandbox.interface import Command, SandboxSpec
from outlast_sandbox.providers.local.provider import LocalProvider
from tests.sandbox.conftest import LIMITS, MINE
from tests.sandbox.traces import NOTHING, left_since, processes_of, traces

pytestmark = pytest.mark.sandbox
STAND_IN = Path(__file__).with_name("server_stand_in.py")
START_S = 0.08  # a start takes about half of this, so a kill hits any part of it, or just after


def _count(short: int, full: int) -> list[object]:
    return [
        pytest.param(short, id="some"),
        pytest.param(full, id="many", marks=[pytest.mark.deep, pytest.mark.timeout(3600)]),
    ]


@pytest.mark.parametrize("cycles", _count(10, 500))
async def test_sandboxes_made_used_and_killed_leave_nothing(local: LocalProvider, tmp_path: Path, cycles: int) -> None:
    await local.probe()
    before = traces(local)
    for number in range(cycles):
        sandbox = await local.create(SandboxSpec(f"{MINE}soak{number}", tmp_path / "workspace", LIMITS))
        result = await sandbox.run(Command(f"eff_{number}", 1, "(setsid sleep 1000 &); echo done"))
        assert result.output == "done\n"
        await sandbox.kill()
    assert await left_since(local, before) == NOTHING


@pytest.mark.parametrize("kills", _count(12, 200))
async def test_shims_and_agents_killed_at_any_moment_of_their_start_leave_nothing(
    local: LocalProvider, tmp_path: Path, kills: int
) -> None:
    seed = int(os.environ.get("OUTLAST_TEST_SEED", random.randrange(1 << 30)))
    print(f"seed {seed}")
    chance = random.Random(seed)
    await local.probe()
    before = traces(local)
    for number in range(kills):
        spec = SandboxSpec(f"{MINE}kill{number}", tmp_path / "workspace", LIMITS)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_kill_one_process, local, chance.uniform(0, START_S), chance.random())
            try:
                sandbox = await local.create(spec)
                await sandbox.run(Command("eff_1", 1, "true"))
                await sandbox.kill()
            except (SandboxUnavailable, SandboxLost):
                pass
            tasks.cancel_scope.cancel()
    assert await left_since(local, before) == NOTHING


async def _kill_one_process(local: LocalProvider, delay_s: float, choice: float) -> None:
    await anyio.sleep(delay_s)  # a different moment each time, which is the point
    family = list(processes_of(local.state_dir))
    if family:
        try:
            os.kill(family[int(choice * len(family))], signal.SIGKILL)
        except ProcessLookupError:
            return


@pytest.mark.parametrize("kills", _count(3, 100))
async def test_servers_killed_at_any_moment_of_a_start_leave_nothing_that_the_next_does_not_find(
    local: LocalProvider, cache_dir: Path, tmp_path: Path, kills: int
) -> None:
    chance = random.Random(kills)
    await local.probe()
    before = traces(local)
    for number in range(kills):
        words = [str(local.state_dir), str(cache_dir), str(tmp_path / "workspace"), f"{MINE}server{number}", "true"]
        with subprocess.Popen(  # noqa: ASYNC220  # its first line is waited for, no more
            [sys.executable, str(STAND_IN), *words], stdout=subprocess.PIPE, text=True
        ) as server:
            assert server.stdout is not None
            assert server.stdout.readline() == "starting\n"
            await anyio.sleep(chance.uniform(0, START_S))  # a different moment each time, which is the point
            server.kill()
    assert await left_since(local, before) == NOTHING

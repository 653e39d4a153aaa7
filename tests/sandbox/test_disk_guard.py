"""What fills the disk in the background is ended, also when no command runs; its files and its neighbours stay."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from outlast.base.errors import DiskLimit
from outlast.db.connect import open_database
from outlast.kernel.sandboxes import store
from outlast.kernel.sandboxes.disk_guard import DiskGuard
from outlast.kernel.sandboxes.rules import State
from outlast_sandbox import disk_watch
from outlast_sandbox.disk_walk import DiskUse, measure
from outlast_sandbox.interface import Command, CommandResult, SandboxProvider
from tests.sandbox.test_lives import Home
from tests.sandbox.test_manager import SETTINGS, House

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(240)]
MEBIBYTE = 1024 * 1024
BEHIND = "$(command -v setsid) nohup %s -c '%s' >/dev/null 2>&1 &"
FILL = BEHIND % ("sh", "for n in $(seq 800); do head -c 4M /dev/zero > fill$n || exit; sleep 0.05; done")
TOUCH = BEHIND % ("bash", "for n in $(seq 2000); do touch $n.{a,b,c,d,e,f,g,h}; sleep 0.01; done")
HIDE = """
import os
for number in range(200):
    fd = os.open("hidden", os.O_RDWR | os.O_CREAT)
    os.unlink("hidden")
    os.write(fd, bytes(8 << 20))
import time; time.sleep(1000)
"""


@pytest.fixture(params=["local", "docker"])
def provider(request: pytest.FixtureRequest) -> SandboxProvider:
    """Those whose files lie on this machine's disk."""
    made: SandboxProvider = request.getfixturevalue(request.param)
    return made


class Guarded(Home):
    """With a guard at work."""

    def watch(self) -> DiskGuard:
        guard = DiskGuard(self.machines)
        self.machines.attend(guard)
        return guard

    async def until_ended(self) -> None:
        with anyio.fail_after(180):  # a quarter of a million files take a busy disk more than a minute
            while (await self.row()).life.state is not State.LOST:  # noqa: ASYNC110 - it is a row, not an event
                await anyio.sleep(0.05)

    def used(self) -> DiskUse:
        return measure([self.machines.workspace_dir(self.workspace_id)], DiskUse(1 << 60, 1 << 60))


@pytest.fixture
async def home(provider: SandboxProvider, sqlite_url: str, tmp_path: Path) -> AsyncIterator[Guarded]:
    db = open_database(sqlite_url, tmp_path, House(None, tmp_path).clock)  # type: ignore[arg-type]
    home = Guarded(db, tmp_path / "data", provider)
    await home.furnish()
    guard = home.watch()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(guard.run)
        yield home
        tasks.cancel_scope.cancel()
    await home.machines.kill(home.workspace_id)
    await home.machines.aclose()
    await db.aclose()


async def test_a_background_writer_is_ended_soon_after_its_limit_and_its_checkpoint_stays(home: Guarded) -> None:
    """6,897 MiB were seen in a sandbox of 2,048: nothing looked while no command ran."""
    await home.say("echo kept > kept.txt")
    kept = await home.keeper.take(home.workspace_id, "tool")
    assert kept is not None
    await home.say(FILL)
    await home.until_ended()
    assert home.used().bytes < 4 * SETTINGS.disk_mb * MEBIBYTE  # the promise itself is the deep test's
    assert "context.lost" in await home.told()
    assert await home.provider.list_refs() == []
    assert (await home.keeper.tree(kept)).files == 1
    await home.say("rm -f fill*; cat kept.txt")
    assert (await home.row()).life.state is State.READY


async def test_one_that_makes_files_without_end_is_ended(home: Guarded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk_watch, "MAX_FILES", 3000)
    await home.say(TOUCH)
    await home.until_ended()
    assert 3000 < home.used().entries < 6000


async def test_files_that_were_deleted_and_are_still_written_to_count(home: Guarded) -> None:
    sandbox = await home.machines.ensure(home.workspace_id, home.project_id)
    await sandbox.write_files([("hide.py", HIDE.encode())])
    if not sandbox.process_ids():
        pytest.skip("its processes cannot be seen from here")
    await home.say("$(command -v setsid) nohup python3 hide.py >/dev/null 2>&1 &")
    await home.until_ended()


async def test_a_command_at_work_is_told_why_and_neighbours_go_on(home: Guarded) -> None:
    other = await home.workspace(home.other_thread)
    await home.say(
        "$(command -v setsid) nohup sh -c 'while true; do date +%N > alive; sleep 0.05; done' >/dev/null 2>&1 &", other
    )
    sandbox = await home.machines.ensure(home.workspace_id, home.project_id)
    ended: CommandResult | DiskLimit
    try:
        ended = await sandbox.run(Command("eff_1", 1, f"{FILL} sleep 60", timeout_s=60))
    except DiskLimit as error:
        ended = error
    if isinstance(ended, DiskLimit):
        assert "MiB" in ended.message
        await home.until_ended()
    else:  # the agent inside looks as well; where it is the first, it ends the command, and the sandbox goes on
        assert ended.killed_reason == "disk"
    first = await home.say("cat alive", other)
    await home.say("sleep 0.3", other)
    assert await home.say("cat alive", other) != first
    assert (await home.db.read(store.newest, other)).life.state is State.READY  # type: ignore[union-attr]
    await home.machines.kill(other)


async def test_one_below_its_limit_is_let_be_and_a_quiet_one_is_not_walked(
    home: Guarded, monkeypatch: pytest.MonkeyPatch
) -> None:
    await home.say("head -c 40M /dev/zero > most")
    for _ in range(8):
        await home.say("head -c 8M /dev/zero > again; sleep 0.2")
    assert (await home.row()).life.state is State.READY


@pytest.mark.deep
async def test_the_promised_sizes_hold(home: Guarded, tmp_path: Path) -> None:
    if os.statvfs(tmp_path).f_bavail * os.statvfs(tmp_path).f_frsize < 8 << 30:
        pytest.skip("there is no room for it here")
    home.machines.settings = replace(SETTINGS, disk_mb=2048)
    home.machines.lives._settings = home.machines.settings
    await home.say("echo kept > kept.txt")
    await home.say(FILL.replace("4M", "256M").replace("sleep 0.05", ":"))
    await home.until_ended()
    assert home.used().bytes < 2560 * MEBIBYTE
    await home.say("rm -f fill*")
    make = "import os\nfor n in range(10**6):\n    os.close(os.open(f'{n // 1000}.{n}', os.O_CREAT | os.O_WRONLY))"
    sandbox = await home.machines.ensure(home.workspace_id, home.project_id)
    await sandbox.write_files([("make.py", make.encode())])
    await home.say("$(command -v setsid) nohup python3 make.py >/dev/null 2>&1 &")
    await home.until_ended()
    assert home.used().entries < 250_000

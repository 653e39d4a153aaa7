"""A sandbox whose server never comes back freezes, then ends, by itself; killed servers once left 127 of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from outlast_sandbox.interface import Command
from outlast_sandbox.providers.local.provider import LocalProvider
from outlast_sandbox.providers.local.sandbox import State
from tests.sandbox.conftest import MINE
from tests.sandbox.test_reattach import STAND_IN

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(120)]
ORPHAN = f"{MINE}orphan"


def left_by_a_killed_server(folder: Path, cache_dir: Path, freeze_after_s: float, end_after_s: float) -> State:
    """A sandbox with something at work in it, whose server was killed."""
    words = [folder / "state", cache_dir, folder / "workspace", ORPHAN]
    script = "echo kept > kept.txt; echo begun; while true; do date +%N > beat; sleep 0.05; done"
    command = [sys.executable, str(STAND_IN), *map(str, words), script, str(freeze_after_s), str(end_after_s)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        while "output" not in server.stdout.readline():
            assert server.poll() is None
        server.send_signal(signal.SIGKILL)
    state = State.read(folder / "state" / ORPHAN)
    assert state is not None
    return state


async def until(holds: Callable[[], bool]) -> None:
    with anyio.fail_after(30):
        while not holds():  # noqa: ASYNC110 - nobody is there to tell
            await anyio.sleep(0.05)


async def test_one_whose_server_is_gone_for_good_ends_and_leaves_its_files(tmp_path: Path, cache_dir: Path) -> None:
    state = left_by_a_killed_server(tmp_path, cache_dir, 0.2, 1)
    await until(lambda: not state.is_alive())
    assert not state.group.exists()
    assert not (tmp_path / "state" / ORPHAN / "state.json").exists()
    assert (tmp_path / "workspace" / "kept.txt").read_text() == "kept\n"


async def test_it_freezes_first_and_the_next_server_thaws_it(tmp_path: Path, cache_dir: Path) -> None:
    state = left_by_a_killed_server(tmp_path, cache_dir, 0.2, 600)
    await until(state.group.is_frozen)
    provider = LocalProvider(tmp_path / "state", cache_dir)
    assert await provider.list_refs() == [(ORPHAN, state.ref)]
    sandbox = await provider.connect(ORPHAN, state.ref)
    await sandbox.thaw()
    assert (await sandbox.run(Command("eff_2", 1, "cat kept.txt"))).output == "kept\n"
    await sandbox.kill()


async def test_one_whose_server_lives_is_let_be(tmp_path: Path, cache_dir: Path) -> None:
    other = LocalProvider(tmp_path / "state", cache_dir)
    await other.prepare()  # a server is there all the time
    state = left_by_a_killed_server(tmp_path, cache_dir, 0.1, 0.3)
    await anyio.sleep(1)
    assert state.is_alive()
    assert not state.group.is_frozen()
    await (await other.connect(ORPHAN, state.ref)).kill()


def test_the_lock_ends_with_its_holder(tmp_path: Path) -> None:
    from outlast_sandbox.providers.local.presence import Presence
    from outlast_sandbox.providers.local.shim import _is_held

    presence = Presence(tmp_path / "state")
    assert _is_held(str(presence.path)), "what is not there cannot be judged"
    presence.hold()
    assert _is_held(str(presence.path))
    os.stat(presence.path)
    del presence
    assert not _is_held(str(tmp_path / "state.lock"))

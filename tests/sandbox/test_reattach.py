"""A sandbox outlives the server that made it (semantics 6)."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest

from outlast_sandbox.errors import SandboxLost
from outlast_sandbox.interface import Command, Evaluation, SandboxSpec
from outlast_sandbox.providers.local import launch
from outlast_sandbox.providers.local.provider import LocalProvider
from outlast_sandbox.providers.local.sandbox import LocalSandbox
from tests.sandbox.conftest import MINE, group_folders, state_of
from tests.sandbox.traces import NOTHING, left_since, traces

pytestmark = pytest.mark.sandbox
STAND_IN = Path(__file__).with_name("server_stand_in.py")
# Goes on when the file `go` appears, so that nothing depends on how long the test takes.
SURVIVOR = f"{MINE}survivor"
SCRIPT = "echo begun; until [ -e go ]; do sleep 0.05; done; echo middle; echo again >> runs; echo ended; cat runs"


@contextmanager
def server(local: LocalProvider, cache_dir: Path, workspace: Path) -> Iterator[subprocess.Popen[str]]:
    """Another server process that has made a sandbox and runs SCRIPT in it."""
    words = [str(local.state_dir), str(cache_dir), str(workspace), SURVIVOR, SCRIPT]
    process = subprocess.Popen([sys.executable, str(STAND_IN), *words], stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


async def ended(descriptor: int) -> None:
    """Wait for the end of the process behind a pid descriptor."""
    with anyio.fail_after(10):
        await anyio.wait_readable(descriptor)
    os.close(descriptor)


def _line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


async def test_a_command_outlives_the_killed_server_and_its_whole_output_is_collected(
    local: LocalProvider, cache_dir: Path, tmp_path: Path
) -> None:
    with server(local, cache_dir, tmp_path / "workspace") as process:
        assert _line(process) == "starting"
        ref = _line(process)
        assert _line(process) == "output begun"
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert await local.list_refs() == [(SURVIVOR, ref)]
    sandbox = await local.connect(SURVIVOR, ref)
    heard: list[str] = []
    begun = anyio.Event()

    def listen(text: str) -> None:
        heard.append(text)
        begun.set()

    async with anyio.create_task_group() as tasks:

        async def follow() -> None:
            result = await sandbox.run(Command("eff_1", 2, "echo must not start"), listen)
            assert result.output == "begun\nmiddle\nended\nagain\n"
            assert result.exit_code == 0

        tasks.start_soon(follow)
        await begun.wait()
        assert heard == ["begun\n"]
        await sandbox.write_files([("go", b"")])
    assert "".join(heard) == "begun\nmiddle\nended\nagain\n"
    await sandbox.kill()


async def test_a_command_that_ended_while_no_server_lived_is_collected(
    local: LocalProvider, cache_dir: Path, tmp_path: Path
) -> None:
    workspace = tmp_path / "workspace"
    with server(local, cache_dir, workspace) as process:
        assert _line(process) == "starting"
        ref = _line(process)
        assert _line(process) == "output begun"
        process.send_signal(signal.SIGKILL)
        process.wait()
    (workspace / "go").touch()
    sandbox = await local.connect(SURVIVOR, ref)
    result = await sandbox.run(Command("eff_1", 2, "", attach_only=True))
    assert result.output == "begun\nmiddle\nended\nagain\n"


async def test_an_evaluation_is_attached_to_by_another_handle(local: LocalProvider, box: LocalSandbox) -> None:
    code = "import pathlib, time\nprint('begun')\nwhile not pathlib.Path('go').exists(): time.sleep(0.01)\n'ended'"
    begun = anyio.Event()
    async with anyio.create_task_group() as tasks:

        async def follow() -> None:
            await box.evaluate(Evaluation("eff_1", 1, "python", code), lambda _text: begun.set())

        tasks.start_soon(follow)
        await begun.wait()
        tasks.cancel_scope.cancel()
    second = await local.connect(box.sandbox_id, box.ref)
    await second.write_files([("go", b"")])
    result = await second.evaluate(Evaluation("eff_1", 2, "python", code))
    assert (result.result, result.stdout) == ("ended", "begun\n")


async def test_another_process_under_the_same_number_is_not_taken_for_the_sandbox(
    local: LocalProvider, box: LocalSandbox
) -> None:
    pid, start_time = box.ref.split(":")
    with pytest.raises(SandboxLost):
        await local.connect(box.sandbox_id, f"{pid}:{int(start_time) + 1}")


async def test_the_remains_of_a_dead_shim_are_cleared(local: LocalProvider, box: LocalSandbox) -> None:
    state = state_of(local, box.sandbox_id)
    descriptor = os.pidfd_open(state.pid)
    os.kill(state.pid, signal.SIGKILL)
    await ended(descriptor)
    assert await local.list_refs() == []
    assert not state.group.exists()
    assert not (local.state_dir / box.sandbox_id).exists()


async def test_the_sandbox_cleans_up_after_itself_when_its_first_process_ends(
    local: LocalProvider, box: LocalSandbox
) -> None:
    state = state_of(local, box.sandbox_id)
    descriptor = os.pidfd_open(state.pid)
    state.group.kill()
    await ended(descriptor)
    assert not state.group.exists()
    assert await local.list_refs() == []


async def test_a_sandbox_whose_data_directory_was_deleted_ends_by_itself(
    local: LocalProvider, spec: SandboxSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "LOOK_AFTER_S", 0.1)
    sandbox = await local.create(spec)
    state = state_of(local, sandbox.sandbox_id)
    descriptor = os.pidfd_open(state.pid)
    shutil.rmtree(local.state_dir)
    await ended(descriptor)
    assert not state.group.exists()


async def test_what_is_left_behind_is_named_and_what_has_gone_is_not(local: LocalProvider) -> None:
    """The tests below compare with what was there before them, which may be on its way out in a long run of tests."""
    await local.list_refs()  # from then on the provider says by an open file that it is there
    going = os.open("/dev/null", os.O_RDONLY)
    before = traces(local)
    os.close(going)
    ends = os.pipe()
    left = traces(local).since(before)
    for end in ends:
        os.close(end)
    assert len(left.descriptors) == 2
    assert all(name.startswith("pipe:") for name in left.descriptors)
    assert await left_since(local, before) == NOTHING


@pytest.mark.parametrize("number", range(20))
async def test_a_start_that_is_cancelled_at_any_moment_leaves_nothing(
    local: LocalProvider, spec: SandboxSpec, number: int
) -> None:
    await local.probe()  # makes the base layer, which would take most of the time
    before = traces(local)
    with anyio.move_on_after(number * 0.003):
        sandbox = await local.create(spec)
        await sandbox.kill()
    assert await local.list_refs() == []
    assert list(local.state_dir.iterdir()) == []
    assert await left_since(local, before) == NOTHING


@pytest.mark.parametrize("number", range(20))
async def test_a_server_killed_while_it_starts_a_sandbox_leaves_nothing_that_is_not_found(
    local: LocalProvider, cache_dir: Path, tmp_path: Path, number: int
) -> None:
    """The shim may be anywhere between its first line and `ready` when the server is gone."""
    before = group_folders()
    with server(local, cache_dir, tmp_path / "workspace") as process:
        assert _line(process) == "starting"
        await anyio.sleep(number * 0.003)  # a different moment each time, which is the point
        process.send_signal(signal.SIGKILL)
        process.wait()
    await anyio.sleep(0.2)  # a server that starts again takes longer than a shim to write its first lines
    for sandbox_id, ref in await local.list_refs():
        await (await local.connect(sandbox_id, ref)).kill()
    assert group_folders() == before


async def test_a_folder_of_a_start_that_never_began_is_removed_in_time(local: LocalProvider) -> None:
    folder = local.state_dir / "sbx_test_never"
    folder.mkdir(parents=True)
    assert await local.list_refs() == []
    assert folder.exists(), "its shim may be about to start"
    os.utime(folder, (0, 0))
    assert await local.list_refs() == []
    assert not folder.exists()

"""What sandboxes could leave on a machine, to be compared before and after."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import anyio
import psutil

from outlast.base.errors import SandboxLost
from outlast.core.sandboxes.providers.local.provider import LocalProvider
from tests.sandbox.conftest import MINE, group_folders

SETTLE_S = 10.0


@dataclass(frozen=True)
class Traces:
    """What sandboxes could leave on a machine."""

    processes: frozenset[int]
    mounts: int
    groups: frozenset[Path]
    folders: frozenset[str]
    descriptors: int


def traces(local: LocalProvider) -> Traces:
    local._collect()
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    return Traces(
        frozenset(processes_of(local.state_dir)),
        sum(str(local.state_dir.parent) in line for line in mounts),
        frozenset(group_folders()),
        frozenset(_folders(local.state_dir)),
        len(os.listdir("/proc/self/fd")),
    )


def _folders(state_dir: Path) -> Iterator[str]:
    """Those with more than the log of a sandbox that ended by itself, which is kept for two minutes."""
    for folder in state_dir.iterdir() if state_dir.exists() else ():
        if any(entry.name != "log" for entry in folder.iterdir()):
            yield folder.name


def processes_of(state_dir: Path) -> Iterator[int]:
    """Those in a control group of this test run, shims (they work in their state folder), and zombies of ours."""
    for process in psutil.process_iter():
        try:
            groups = Path(f"/proc/{process.pid}/cgroup").read_text()
            zombie = process.status() == psutil.STATUS_ZOMBIE and process.ppid() == os.getpid()
            if f"outlast-{MINE}" in groups or zombie or process.cwd().startswith(str(state_dir)):
                yield process.pid
        except (psutil.Error, OSError):
            continue


async def settled(local: LocalProvider, before: Traces) -> Traces:
    """The traces once they are as before, or after a while as they are then: the kernel ends processes in its time."""
    with anyio.move_on_after(SETTLE_S):
        while True:
            for sandbox_id, ref in await local.list_refs():
                try:
                    await (await local.connect(sandbox_id, ref)).kill()
                except SandboxLost:
                    continue
            if traces(local) == before:
                break
            await anyio.sleep(0.02)
    return traces(local)

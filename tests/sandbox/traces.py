"""What sandboxes could leave on a machine, to be compared before and after."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import anyio
import psutil

from outlast_sandbox.errors import SandboxLost
from outlast_sandbox.providers.local.provider import LocalProvider
from tests.sandbox.conftest import MINE, group_folders

SETTLE_S = 10.0


@dataclass(frozen=True)
class Traces:
    """What sandboxes could leave on a machine; descriptors by what they lead to, which names most of them for ever."""

    processes: frozenset[int] = frozenset()
    mounts: tuple[str, ...] = ()
    groups: frozenset[Path] = frozenset()
    folders: frozenset[str] = frozenset()
    descriptors: tuple[str, ...] = ()

    def since(self, before: Traces) -> Traces:
        """What has come since. What has gone is no trace: an earlier test's processes and sockets end in their time."""
        return Traces(
            self.processes - before.processes,
            _more(self.mounts, before.mounts),
            self.groups - before.groups,
            self.folders - before.folders,
            _more(self.descriptors, before.descriptors),
        )


NOTHING = Traces()


def traces(local: LocalProvider) -> Traces:
    local._collect()
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    return Traces(
        frozenset(processes_of(local.state_dir)),
        tuple(line for line in mounts if str(local.state_dir.parent) in line),
        frozenset(group_folders()),
        frozenset(_folders(local.state_dir)),
        tuple(_descriptors()),
    )


def _more(now: tuple[str, ...], before: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted((Counter(now) - Counter(before)).elements()))


def _descriptors() -> Iterator[str]:
    for number in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):  # the one that the folder was read with
            yield os.readlink(f"/proc/self/fd/{number}")


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


async def left_since(local: LocalProvider, before: Traces) -> Traces:
    """What has come since then and stays, once every sandbox has been ended: `NOTHING` as soon as nothing does, else
    what is there after a while, for the kernel ends processes in its time."""
    with anyio.move_on_after(SETTLE_S):
        while True:
            for sandbox_id, ref in await local.list_refs():
                try:
                    await (await local.connect(sandbox_id, ref)).kill()
                except SandboxLost:
                    continue
            if traces(local).since(before) == NOTHING:
                return NOTHING
            await anyio.sleep(0.02)
    return traces(local).since(before)

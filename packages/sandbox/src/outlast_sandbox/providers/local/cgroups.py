"""Control groups of a sandbox on any layout: v2, v1, or both side by side (hybrid).

Limits are written through v2 if it has the controller, otherwise through v1; otherwise they are reported as not
enforced. Freezing and killing use v2's core files if there is a v2 tree, otherwise v1's freezer and a kill loop. A
group is a sibling of the server's own, or as high as the server may write.
"""

import contextlib
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

CPU_PERIOD_US: Final = 100_000
V1_CONTROLLERS_BESIDE_V2: Final = ("memory", "pids", "cpu")  # v2 counts CPU time and freezes without a controller
V1_CONTROLLERS: Final = ("memory", "pids", "cpu", "cpuacct", "freezer")
NOTES: Final = {
    "memory": "the memory limit applies to each process separately: no memory control group can be written here",
    "pids": "the process limit is a resource limit (none before Linux 5.14): there is no pids control group",
    "cpu": "the CPU limit is not enforced: no cpu control group can be written here",
}
PREFIX: Final = "outlast-"


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """One mounted tree: the `controllers` that it offers, and the folder in which new groups are created."""

    parent: Path
    controllers: tuple[str, ...]
    version: int


@dataclass(frozen=True, slots=True)
class Layout:
    """The control groups of this machine. `notes` lists the limits that cannot be enforced."""

    hierarchies: tuple[Hierarchy, ...]
    notes: tuple[str, ...]

    def enforces(self, controller: str) -> bool:
        return any(controller in hierarchy.controllers for hierarchy in self.hierarchies)

    @property
    def can_freeze(self) -> bool:
        return any(h.version == 2 or "freezer" in h.controllers for h in self.hierarchies)


def find_layout() -> Layout:
    """Read the mounts and test with a temporary group what may be written."""
    own = _own_groups()
    hierarchies: list[Hierarchy] = []
    second = _mount_point("cgroup2")
    if second is not None:
        hierarchy = _version_two(second, own.get("", "/"))
        if hierarchy is not None:
            hierarchies.append(hierarchy)
    carried = {name for hierarchy in hierarchies for name in hierarchy.controllers}
    for name in V1_CONTROLLERS if second is None else V1_CONTROLLERS_BESIDE_V2:
        mount = _mount_point("cgroup", name)
        if mount is not None and name not in carried:
            parent = _writable(mount, own.get(name, "/"))
            if parent is not None:
                hierarchies.append(Hierarchy(parent, (name,), 1))
    layout = Layout(tuple(hierarchies), ())
    return Layout(layout.hierarchies, tuple(note for name, note in NOTES.items() if not layout.enforces(name)))


def group_of(pid: int) -> "Group":
    """The group of a process, one folder per hierarchy; empty if it is gone or no group is visible."""
    try:
        paths = _groups_of(str(pid))
    except OSError:
        return Group(())
    mounts = {name: _mount_point("cgroup", name) if name else _mount_point("cgroup2") for name in paths}
    folders = [mount / paths[name].lstrip("/") for name, mount in mounts.items() if mount is not None]
    return Group(tuple(folder for folder in folders if folder.is_dir()))


def _own_groups() -> dict[str, str]:
    return _groups_of("self")


def _groups_of(process: str) -> dict[str, str]:
    """controller ("" for v2) → path of that process's group."""
    groups: dict[str, str] = {}
    for line in Path(f"/proc/{process}/cgroup").read_text().splitlines():
        _, names, path = line.split(":", 2)
        for name in names.split(","):
            groups[name] = path
    return groups


def _mount_point(kind: str, controller: str = "") -> Path | None:
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        kind_here, _, options = after.split(" ", 2)
        if kind_here == kind and (not controller or controller in options.split(",")):
            return Path(before.split()[4])
    return None


def _candidates(mount: Path, own: str) -> list[Path]:
    """The server's own group, then each one above it up to the root of the tree."""
    path = mount / own.lstrip("/")
    if not path.is_dir() or ".." in Path(own).parts:
        return [mount]
    return [path, *[parent for parent in path.parents if parent == mount or mount in parent.parents]]


def _try_group(parent: Path) -> Path | None:
    trial = parent / f"{PREFIX}trial-{os.getpid()}"
    try:
        trial.mkdir()
    except OSError:
        return None
    return trial


def _writable(mount: Path, own: str) -> Path | None:
    for parent in _candidates(mount, own):
        trial = _try_group(parent)
        if trial is not None:
            trial.rmdir()
            return parent
    return None


def _version_two(mount: Path, own: str) -> Hierarchy | None:
    """The best place for v2 groups: the one that offers most of our controllers; core files work in any."""
    best: Hierarchy | None = None
    for parent in _candidates(mount, own):
        for controller in ("memory", "pids", "cpu"):
            _enable(parent, controller)
        trial = _try_group(parent)
        if trial is None:
            continue
        try:
            controllers = tuple(c for c in (trial / "cgroup.controllers").read_text().split() if c in V1_CONTROLLERS)
        finally:
            trial.rmdir()
        if best is None or len(controllers) > len(best.controllers):
            best = Hierarchy(parent, controllers, 2)
    return best


def _enable(parent: Path, controller: str) -> None:
    try:
        if controller in (parent / "cgroup.controllers").read_text().split():
            (parent / "cgroup.subtree_control").write_text(f"+{controller}")
    except OSError:
        pass  # a group with its own processes cannot delegate controllers; the next candidate may


@dataclass(frozen=True, slots=True)
class Group:
    """A sandbox's control group: one folder per hierarchy. Plain file access; each call takes well under 1 ms."""

    folders: tuple[Path, ...]

    @staticmethod
    def planned(layout: Layout, sandbox_id: str) -> "Group":
        return Group(tuple(hierarchy.parent / f"{PREFIX}{sandbox_id}" for hierarchy in layout.hierarchies))

    def freeze(self) -> None:
        """Freeze all processes at once. Raises OSError if there is no usable freezer."""
        self._freezer(True)

    def thaw(self) -> None:
        self._freezer(False)

    def is_frozen(self) -> bool:
        state = self._read("cgroup.freeze")
        return state == "1" if state is not None else self._read("freezer.state") in ("FROZEN", "FREEZING")

    def kill(self) -> None:
        """End every process in the group, frozen or not. Returns once none is left, or after 5 s of trying."""
        self.request_kill()
        deadline = time.monotonic() + 5
        while self.processes() and time.monotonic() < deadline:
            time.sleep(0.001)
            self.request_kill()

    def request_kill(self) -> None:
        """Send the kill without waiting until the processes have ended."""
        if not self._write("cgroup.kill", "1"):
            for pid in self.processes():
                _kill_quietly(pid)
            self._write("freezer.state", "THAWED")

    def processes(self) -> list[int]:
        """Process ids in the group; empty if it is gone."""
        pids: set[int] = set()
        for folder in self.folders:
            try:
                pids |= {int(line) for line in (folder / "cgroup.procs").read_text().split()}
            except OSError:
                continue
        return sorted(pids)

    def remove(self) -> None:
        """Delete the empty folders; busy or missing ones are ignored."""
        for folder in self.folders:
            try:
                folder.rmdir()
            except OSError:
                continue

    def exists(self) -> bool:
        return any(folder.exists() for folder in self.folders)

    def memory_bytes(self) -> int:
        return int(self._read("memory.current") or self._read("memory.usage_in_bytes") or 0)

    def process_count(self) -> int:
        count = self._read("pids.current")
        return int(count) if count is not None else len(self.processes())

    def cpu_s(self) -> float:
        usage = self._field("cpu.stat", "usage_usec")
        return usage / 1e6 if usage else int(self._read("cpuacct.usage") or 0) / 1e9

    def out_of_memory_kills(self) -> int:
        return self._field("memory.events", "oom_kill") or self._field("memory.oom_control", "oom_kill")

    def refused_processes(self) -> int:
        return self._field("pids.events", "max")

    def process_limit(self) -> int | None:
        """The limit on the number of processes, or None if there is none here."""
        limit = self._read("pids.max")
        return int(limit) if limit is not None and limit.isdigit() else None

    def _freezer(self, frozen: bool) -> None:
        if not self._write("cgroup.freeze", str(int(frozen))) and not self._write(
            "freezer.state", "FROZEN" if frozen else "THAWED"
        ):
            raise OSError("no control group freezer is usable on this machine")
        deadline = time.monotonic() + 1
        while frozen and not self._settled() and time.monotonic() < deadline:
            time.sleep(0.0002)

    def _settled(self) -> bool:
        if (events := self._read("cgroup.events")) is not None:
            return "frozen 1" in events
        return self._read("freezer.state") == "FROZEN"

    def _read(self, name: str) -> str | None:
        for folder in self.folders:
            try:
                return (folder / name).read_text().strip()
            except OSError:
                continue
        return None

    def _write(self, name: str, value: str) -> bool:
        for folder in self.folders:
            try:
                fd = os.open(folder / name, os.O_WRONLY)  # never creates a file: the kernel's file exists or not
            except OSError:
                continue
            try:
                os.write(fd, value.encode())
                return True
            except OSError:
                continue
            finally:
                os.close(fd)
        return False

    def _field(self, name: str, key: str) -> int:
        for line in (self._read(name) or "").splitlines():
            word, _, value = line.partition(" ")
            if word == key:
                return int(value)
        return 0


def remove_empty_groups(layout: Layout, older_than_s: float) -> None:
    """Remove our empty groups: the kernel refuses to remove a group for a moment after its last process, and the server
    that owned it may be dead. A group in use is never touched. Blocks for some microseconds each."""
    for hierarchy in layout.hierarchies:
        for folder in hierarchy.parent.glob(f"{PREFIX}*"):
            with contextlib.suppress(OSError):
                if time.time() - folder.stat().st_mtime > older_than_s:
                    folder.rmdir()


def _kill_quietly(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def limit_files(
    layout: Layout, group: Group, memory_bytes: int, cpu_count: float, processes: int
) -> list[tuple[str, str]]:
    """(file, value) to write after the group's folders are created; only for available controllers."""
    quota = int(cpu_count * CPU_PERIOD_US)
    values = {
        ("memory", 2): (("memory.max", str(memory_bytes)), ("memory.swap.max", "0")),
        ("memory", 1): (
            ("memory.limit_in_bytes", str(memory_bytes)),
            ("memory.memsw.limit_in_bytes", str(memory_bytes)),
        ),
        ("pids", 2): (("pids.max", str(processes)),),
        ("pids", 1): (("pids.max", str(processes)),),
        ("cpu", 2): (("cpu.max", f"{quota} {CPU_PERIOD_US}"),),
        ("cpu", 1): (("cpu.cfs_period_us", str(CPU_PERIOD_US)), ("cpu.cfs_quota_us", str(quota))),
    }
    return [
        (str(folder / name), value)
        for hierarchy, folder in zip(layout.hierarchies, group.folders, strict=True)
        for controller in hierarchy.controllers
        for name, value in values.get((controller, hierarchy.version), ())
    ]

"""The plan of one sandbox: all that the shim needs to start it, prepared by the server."""

import functools
import hashlib
import json
import marshal
import os
import re
import resource
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from outlast_sandbox.folders import each_folder
from outlast_sandbox.interface import SandboxSpec

from .base_layer import BaseLayer
from .cgroups import Group, Layout, limit_files
from .egress_environment import authority_environment, proxy_environment, write_authorities
from .etc_files import HOME, USER_ID
from .seccomp import filter_program
from .shim import INFO_FD, SECCOMP_FD, STAGE
from .snapshots import NODE_FOLDER, Snapshot, package_environment

BWRAP: Final = "/usr/bin/bwrap"  # AppArmor profiles name this path, so a copy elsewhere would be refused
WORKSPACE: Final = "/workspace"
LAYERS: Final = "layers"  # below the state folder: a sandbox's changes in folders that come from its snapshot
COUNTED: Final = "/run/layers"  # where the agent sees them, to count them with the workspace
START_TIMEOUT_S: Final = 20.0
LOOK_AFTER_S: Final = 60.0  # how often an idle shim checks for its state file and a server
MIN_LOOK_S: Final = 0.1
OPEN_FILES: Final = 4096  # or the server's own hard limit if it is lower
HIDDEN_FACTS: Final = ("config.gz", "cmdline", "keys", "key-users", "timer_list", "sched_debug")  # kernel facts
MIN_DATA_BYTES: Final = 1024**3  # Deno does not start below 768 MiB
UID_BASE: Final = 1 << 28
UID_SPAN: Final = 1 << 28
SMALL_UID_BASE: Final = 20_000
SMALL_UID_SPAN: Final = 40_000
_CAPABILITIES: Final = {"chown": 0, "kill": 5, "setgid": 6, "setuid": 7, "sys_admin": 21}


@dataclass(frozen=True, slots=True)
class Powers:
    """The server's privileges on this machine: `own_user`: it can give each sandbox its own user id, in mounts built
    first; `uids`: (first, count) to choose from."""

    own_user: bool
    uids: tuple[int, int]


@functools.cache
def find_powers() -> Powers:
    """Read from this process's capabilities and user id map; they do not change while it runs."""
    effective = next(
        int(line.split()[1], 16)
        for line in Path("/proc/self/status").read_text().splitlines()
        if line.startswith("CapEff:")
    )
    capable = all(effective >> bit & 1 for bit in _CAPABILITIES.values())
    mapped = max(
        int(line.split()[0]) + int(line.split()[2]) for line in Path("/proc/self/uid_map").read_text().splitlines()
    )
    if mapped >= UID_BASE + UID_SPAN:
        return Powers(os.geteuid() == 0 and capable, (UID_BASE, UID_SPAN))
    fits = mapped >= SMALL_UID_BASE + SMALL_UID_SPAN
    return Powers(os.geteuid() == 0 and capable and fits, (SMALL_UID_BASE, SMALL_UID_SPAN))


def choose_uid(powers: Powers, workspace_dir: Path) -> int:
    """The user id that owns this workspace: always the same for the same folder, 0 for the server's own."""
    if not powers.own_user:
        return 0
    first, span = powers.uids
    digest = hashlib.sha256(os.fsencode(os.path.realpath(workspace_dir))).digest()
    return first + int.from_bytes(digest[:8]) % span


def own_workspace(workspace_dir: Path, uid: int) -> None:
    """Create the folder, and change its owner and that of its contents to `uid` (0 leaves owners unchanged). Symlinks
    are not followed."""
    workspace_dir.mkdir(parents=True, exist_ok=True)
    if not uid or os.lstat(workspace_dir).st_uid == uid:
        return
    top = os.open(workspace_dir, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for folder in each_folder(top):
            for name in os.listdir(folder):
                os.chown(name, uid, uid, dir_fd=folder, follow_symlinks=False)
    finally:
        os.close(top)
    os.lchown(workspace_dir, uid, uid)  # last: it marks the folder as done


def make_mount_points(workspace_dir: Path, layers: Iterable[str], uid: int) -> None:
    """Create the empty folder in the workspace that each layer is mounted on; replace other entries at its path,
    without following links. No process may run in the workspace."""
    for layer in layers:
        path = workspace_dir
        for part in layer.split("/"):
            path /= part
            if path.is_symlink() or (path.exists() and not path.is_dir()):
                path.unlink()
            if not path.exists():
                path.mkdir(mode=0o755)
                if uid:
                    os.chown(path, uid, uid)


@dataclass(frozen=True, slots=True)
class Ground:
    """The file systems of a sandbox besides the base layer and its workspace.

    `snapshot`: mounted as its home folder, under a writable layer. Otherwise `home`: this folder is the home, and
    changes persist (a build). Otherwise the home is empty. `layers`: (folder of the workspace, its source), each under
    a writable layer too. `read_only`: (path here, path inside), mounted over everything else."""

    snapshot: Snapshot | None = None
    home: Path | None = None
    layers: tuple[tuple[str, Path], ...] = ()
    read_only: tuple[tuple[Path, str], ...] = ()


NOTHING: Final = Ground()


def environment(spec: SandboxSpec, base: BaseLayer, ground: Ground = NOTHING) -> dict[str, str]:
    """The environment of all processes inside. It has nothing of the server's own environment."""
    bare = ground.snapshot is None and (ground.home is None or spec.home_is_workspace)
    path = base.search_path if bare else package_environment(base)["PATH"]
    return {
        "HOME": HOME,
        "USER": "user",
        "LOGNAME": "user",
        "SHELL": "/bin/bash",
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "TMPDIR": "/tmp",
        "PWD": HOME if spec.home_is_workspace else WORKSPACE,
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "NO_COLOR": "1",
        "DENO_NO_UPDATE_CHECK": "1",
        "DENO_NO_PROMPT": "1",
        **({} if bare else package_environment(base)),
        "PATH": f"{WORKSPACE}/{NODE_FOLDER}/.bin:{path}" if NODE_FOLDER in spec.layers else path,
        **(proxy_environment() if spec.egress else {}),
        **(authority_environment() if spec.authority_pem else {}),
        **spec.env,
    }


@dataclass(slots=True)
class Stage:
    """The paths of mount sources: their own, or, if the mounts are built first (`staged`), the place where they are
    mounted. `layers`: the sources with a layer over them, each with the folder below the sandbox's state folder for its
    changes ("" keeps them in memory), and whether it is small."""

    staged: bool
    sources: list[str] = field(default_factory=list)
    layers: dict[int, tuple[str, bool]] = field(default_factory=dict)

    def place(self, path: Path) -> str:
        if not self.staged:
            return str(path)
        self.sources.append(str(path))
        return f"{STAGE}/{len(self.sources) - 1}"

    def place_layered(self, path: Path, changes: str = "", *, small: bool = False) -> str:
        self.layers[len(self.sources)] = changes, small
        return self.place(path)


@dataclass(frozen=True, slots=True)
class TemporaryBytes:
    """The maximum sizes of the folders in memory: /tmp, /dev/shm, an empty home folder, and the changes of one
    layer."""

    tmp: int
    shm: int
    home: int
    layer: int


def temporary_bytes(memory_bytes: int) -> TemporaryBytes:
    """Together at most seven eighths of the sandbox's memory: if files took all of it, only the agent would be left to
    end to free memory."""
    eighth = memory_bytes // 8
    return TemporaryBytes(tmp=eighth * 3, shm=eighth, home=eighth * 2, layer=eighth)


def open_files() -> int:
    """The number of descriptors that a process inside may have: at most the server's own hard limit."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)


def bwrap_arguments(
    base: BaseLayer, workspace_dir: Path, sizes: TemporaryBytes, stage: Stage, ground: Ground = NOTHING
) -> list[str]:
    """The command line of bubblewrap; fills `stage`."""
    words = [BWRAP, "--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
    words += ["--unshare-cgroup-try", "--uid", str(USER_ID), "--gid", str(USER_ID), "--hostname", "sandbox"]
    words += ["--new-session", "--as-pid-1", "--cap-drop", "ALL"]
    words += ["--seccomp", str(SECCOMP_FD), "--info-fd", str(INFO_FD)]
    for path, inside in base.read_only:
        words += ["--ro-bind", stage.place(path), inside]
    for target, inside in base.symlinks:
        words += ["--symlink", target, inside]
    words += ["--proc", "/proc"]
    for fact in (name for name in HIDDEN_FACTS if os.path.exists(f"/proc/{name}")):
        words += ["--ro-bind", "/dev/null", f"/proc/{fact}"]
    words += ["--dev", "/dev", "--size", str(sizes.shm), "--perms", "1777", "--tmpfs", "/dev/shm"]
    words += ["--remount-ro", "/dev"]
    words += ["--size", str(sizes.tmp), "--perms", "1777", "--tmpfs", "/tmp"]
    words += _home_arguments(sizes, stage, ground)
    words += ["--dir", "/run", "--dir", "/var/tmp"]
    words += ["--bind", stage.place(workspace_dir), WORKSPACE]
    words += _layer_arguments(sizes, stage, ground)
    for path, inside in ground.read_only:
        words += ["--ro-bind", stage.place(path), inside]
    words += ["--remount-ro", "/", "--chdir", WORKSPACE, "--", *base.agent]
    return words


def _layer_arguments(sizes: TemporaryBytes, stage: Stage, ground: Ground) -> list[str]:
    """Folders of the workspace that come from the snapshot. If no layer can be mounted over them, each package is
    read-only, so that others can be added next to them, and other entries (caches) start empty in the workspace
    itself."""
    words: list[str] = []
    for number, (layer, path) in enumerate(ground.layers):
        inside = f"{WORKSPACE}/{layer}"
        if stage.staged:
            source = stage.place_layered(path, f"{LAYERS}/{number}", small=layer != NODE_FOLDER)
            words += ["--bind", source, inside]
        elif layer == NODE_FOLDER:
            words += ["--size", str(sizes.layer), "--perms", "0755", "--tmpfs", inside]
            packages = [entry for entry in sorted(path.iterdir()) if not _is_cache(entry)]
            words += _bind_read_only((entry, f"{inside}/{entry.name}") for entry in packages)
    return words


def _is_cache(entry: Path) -> bool:
    """True for folders next to packages that tools use as caches and write to."""
    return entry.name.startswith(".") and entry.name != ".bin" and entry.is_dir()


def _bind_read_only(entries: Iterable[tuple[Path, str]]) -> list[str]:
    """Mount each entry read-only, links unchanged."""
    words: list[str] = []
    for path, inside in entries:
        is_link = path.is_symlink()
        words += ["--symlink", os.readlink(path), inside] if is_link else ["--ro-bind", str(path), inside]
    return words


def _home_arguments(sizes: TemporaryBytes, stage: Stage, ground: Ground) -> list[str]:
    """The home folder. If no layer can be mounted over a snapshot, because the server is not root, each of its entries
    is read-only, so that others can be added next to them."""
    if ground.home is not None:
        return ["--bind", stage.place(ground.home), HOME]
    empty = ["--size", str(sizes.home), "--perms", "0755", "--tmpfs", HOME]
    if ground.snapshot is None:
        return empty
    links = [word for target, inside in ground.snapshot.symlinks() for word in ("--symlink", target, inside)]
    if stage.staged:
        return ["--bind", stage.place_layered(ground.snapshot.home), HOME, *links]
    return [*empty, *_bind_read_only(ground.snapshot.entries()), *links]


def state_text(spec: SandboxSpec, group: Group) -> str:
    """The state file, with `@pid@` and `@start_time@` for the shim to fill in."""
    facts = {
        "sandbox_id": spec.sandbox_id,
        "pid": "@pid@",
        "start_time": "@start_time@",
        "group": [str(folder) for folder in group.folders],
    }
    return json.dumps(facts)


def write_plan(
    spec: SandboxSpec,
    base: BaseLayer,
    layout: Layout,
    group: Group,
    state_dir: Path,
    uid: int,
    ground: Ground = NOTHING,
    presence: Path | None = None,
) -> bytes:
    """The whole plan, marshalled for the shim (the same Python runs it)."""
    limits = spec.limits
    if spec.home_is_workspace and ground.snapshot is None:
        ground = replace(ground, home=spec.workspace_dir.resolve())
    if spec.authority_pem:
        authorities = write_authorities(base, spec.authority_pem, state_dir)
        ground = replace(ground, read_only=(*ground.read_only, *authorities))
    stage = Stage(find_powers().own_user)
    counted: list[str] = []
    if ground.home is not None and ground.home.resolve() != spec.workspace_dir.resolve():
        counted.append(HOME)
    if ground.layers and stage.staged:
        (state_dir / LAYERS).mkdir(mode=0o755)
        ground = replace(ground, read_only=(*ground.read_only, (state_dir / LAYERS, COUNTED)))
        counted.append(COUNTED)
    sizes = temporary_bytes(limits.memory_bytes)
    argv = bwrap_arguments(base, spec.workspace_dir.resolve(), sizes, stage, ground)
    rlimits = [("RLIMIT_CORE", 0), ("RLIMIT_FSIZE", limits.disk_bytes), ("RLIMIT_NOFILE", open_files())]
    if not layout.enforces("memory"):
        rlimits.append(("RLIMIT_DATA", max(limits.memory_bytes, MIN_DATA_BYTES)))
    if not layout.enforces("pids") and counts_per_namespace():
        rlimits.append(("RLIMIT_NPROC", limits.processes))
    config = {
        "env": environment(spec, base, ground),
        "rlimits": rlimits,
        "disk_bytes": limits.disk_bytes,
        "egress": spec.egress,
        "layers": list(spec.layers),
        "counted": counted,
    }
    plan: dict[str, Any] = {
        "state_dir": str(state_dir),
        "state_template": state_text(spec, group),
        "group_folders": [str(folder) for folder in group.folders],
        "limit_files": limit_files(layout, group, limits.memory_bytes, limits.cpu_count, limits.processes),
        "agent_config": json.dumps(config).encode(),
        "start_timeout_s": START_TIMEOUT_S,
        "look_after_s": min(LOOK_AFTER_S, max(spec.orphan.freeze_after_s, MIN_LOOK_S)),
        "presence": "" if presence is None else str(presence.absolute()),
        "freeze_after_s": spec.orphan.freeze_after_s,
        "end_after_s": spec.orphan.end_after_s,
        "stage": stage.sources,
        "layers": stage.layers,
        "layer_bytes": sizes.layer,
        "in_use": str(ground.snapshot.lock) if ground.snapshot else "",
        "seccomp": filter_program(),
        "uid": uid,
        "argv": argv,
    }
    return marshal.dumps(plan)


def counts_per_namespace() -> bool:
    """True if RLIMIT_NPROC counts the processes of one user namespace only, as since Linux 5.14."""
    numbers = re.findall(r"\d+", os.uname().release)
    return [int(number) for number in numbers[:2]] >= [5, 14]

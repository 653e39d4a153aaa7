"""The plan of one sandbox: everything the shim needs to start it, worked out by the server."""

import functools
import hashlib
import json
import marshal
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from outlast.core.sandboxes.interface import SandboxSpec

from .base_layer import HOME, USER_ID, BaseLayer
from .cgroups import Group, Layout, limit_files
from .network import authority_environment, proxy_environment, write_authorities
from .seccomp import filter_program
from .shim import INFO_FD, SECCOMP_FD, STAGE

BWRAP: Final = "/usr/bin/bwrap"  # AppArmor profiles name this path, so a copy elsewhere would be refused
WORKSPACE: Final = "/workspace"
START_TIMEOUT_S: Final = 20.0
LOOK_AFTER_S: Final = 60.0  # how often an idle shim looks whether its state file is still there
OPEN_FILES: Final = 4096
LEAST_DATA_BYTES: Final = 1024**3  # Deno does not start below 768 MiB
UID_BASE: Final = 1 << 28
UID_SPAN: Final = 1 << 28
SMALL_UID_BASE: Final = 20_000
SMALL_UID_SPAN: Final = 40_000
_CAPABILITIES: Final = {"chown": 0, "kill": 5, "setgid": 6, "setuid": 7, "sys_admin": 21}


@dataclass(frozen=True, slots=True)
class Powers:
    """What the server may do on this machine: `own_user`: give each sandbox a user id of its own, in mounts built
    first; `uids`: (first, how many) to choose from."""

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
        int(line.split()[0]) + int(line.split()[2])
        for line in Path("/proc/self/uid_map").read_text().splitlines()
    )
    if mapped >= UID_BASE + UID_SPAN:
        return Powers(os.geteuid() == 0 and capable, (UID_BASE, UID_SPAN))
    fits = mapped >= SMALL_UID_BASE + SMALL_UID_SPAN
    return Powers(os.geteuid() == 0 and capable and fits, (SMALL_UID_BASE, SMALL_UID_SPAN))


def choose_uid(powers: Powers, workspace_dir: Path) -> int:
    """The user id that owns this workspace: always the same for the same folder, 0 for "as the server itself"."""
    if not powers.own_user:
        return 0
    first, span = powers.uids
    digest = hashlib.sha256(os.fsencode(os.path.realpath(workspace_dir))).digest()
    return first + int.from_bytes(digest[:8]) % span


def own_workspace(workspace_dir: Path, uid: int) -> None:
    """Make the folder, and give it with all in it to `uid` (0: leave owners alone). Symlinks are not followed."""
    workspace_dir.mkdir(parents=True, exist_ok=True)
    if not uid or os.lstat(workspace_dir).st_uid == uid:
        return
    for root, folders, names in os.walk(workspace_dir):
        for name in [*folders, *names]:
            os.lchown(os.path.join(root, name), uid, uid)
    os.lchown(workspace_dir, uid, uid)  # last: it marks the folder as done


def environment(spec: SandboxSpec, base: BaseLayer) -> dict[str, str]:
    """Of everything that runs inside. Nothing of the server's own environment is in it."""
    return {
        "PATH": base.search_path,
        "HOME": HOME,
        "USER": "user",
        "LOGNAME": "user",
        "SHELL": "/bin/bash",
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "TMPDIR": "/tmp",
        "PWD": WORKSPACE,
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "NO_COLOR": "1",
        "DENO_NO_UPDATE_CHECK": "1",
        "DENO_NO_PROMPT": "1",
        **(proxy_environment() if spec.egress else {}),
        **(authority_environment() if spec.authority_pem else {}),
        **spec.env,
    }


def bwrap_arguments(
    base: BaseLayer,
    workspace_dir: Path,
    disk_bytes: int,
    stage: list[str],
    over: Sequence[tuple[Path, str]] = (),
) -> list[str]:
    """The command line of bubblewrap. With `stage` (filled here) sources are named by their staged place. `over` are
    files put in the place of the base layer's, read-only: (host path, path inside)."""

    def source(path: Path) -> str:
        stage.append(str(path))
        return f"{STAGE}/{len(stage) - 1}"

    staged = find_powers().own_user
    words = [BWRAP, "--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
    words += ["--unshare-cgroup-try", "--uid", str(USER_ID), "--gid", str(USER_ID), "--hostname", "sandbox"]
    words += [
        "--new-session",
        "--as-pid-1",
        "--cap-drop",
        "ALL",
        "--seccomp",
        str(SECCOMP_FD),
        "--info-fd",
        str(INFO_FD),
    ]
    for path, inside in (*base.read_only, *over):
        words += ["--ro-bind", source(path) if staged else str(path), inside]
    for target, inside in base.symlinks:
        words += ["--symlink", target, inside]
    words += ["--proc", "/proc", "--dev", "/dev"]
    for folder in ("/tmp", HOME):
        words += [
            "--size",
            str(disk_bytes),
            "--perms",
            "1777" if folder == "/tmp" else "0755",
            "--tmpfs",
            folder,
        ]
    words += ["--dir", "/run", "--dir", "/var/tmp"]
    words += ["--bind", source(workspace_dir) if staged else str(workspace_dir), WORKSPACE]
    words += ["--remount-ro", "/", "--chdir", WORKSPACE, "--", *base.agent]
    return words


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
    spec: SandboxSpec, base: BaseLayer, layout: Layout, group: Group, state_dir: Path, uid: int
) -> bytes:
    """The whole plan, marshalled for the shim (the same Python runs it)."""
    limits = spec.limits
    stage: list[str] = []
    over = write_authorities(base, spec.authority_pem, state_dir) if spec.authority_pem else ()
    argv = bwrap_arguments(base, spec.workspace_dir.resolve(), limits.disk_bytes, stage, over)
    rlimits = [("RLIMIT_CORE", 0), ("RLIMIT_FSIZE", limits.disk_bytes), ("RLIMIT_NOFILE", OPEN_FILES)]
    if not layout.enforces("memory"):
        rlimits.append(("RLIMIT_DATA", max(limits.memory_bytes, LEAST_DATA_BYTES)))
    if not layout.enforces("pids") and counts_per_namespace():
        rlimits.append(("RLIMIT_NPROC", limits.processes))
    config = {
        "env": environment(spec, base),
        "rlimits": rlimits,
        "disk_bytes": limits.disk_bytes,
        "egress": spec.egress,
    }
    plan: dict[str, Any] = {
        "state_dir": str(state_dir),
        "state_template": state_text(spec, group),
        "group_folders": [str(folder) for folder in group.folders],
        "limit_files": limit_files(layout, group, limits.memory_bytes, limits.cpu_count, limits.processes),
        "agent_config": json.dumps(config).encode(),
        "start_timeout_s": START_TIMEOUT_S,
        "look_after_s": LOOK_AFTER_S,
        "stage": stage,
        "seccomp": filter_program(),
        "uid": uid,
        "argv": argv,
    }
    return marshal.dumps(plan)


def counts_per_namespace() -> bool:
    """Whether RLIMIT_NPROC counts the processes of one user namespace only, as since Linux 5.14."""
    numbers = re.findall(r"\d+", os.uname().release)
    return [int(number) for number in numbers[:2]] >= [5, 14]

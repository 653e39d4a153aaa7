"""The definition of a container: pure, so that its hardening can be read and tested in one place."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from outlast_sandbox.interface import SandboxSpec
from outlast_sandbox.providers.local.base_layer import TOOLS
from outlast_sandbox.providers.local.etc_files import HOME
from outlast_sandbox.providers.local.launch import WORKSPACE, open_files, temporary_bytes

OWNER_LABEL: Final = "outlast.server"
SANDBOX_LABEL: Final = "outlast.sandbox"
MEETING: Final = "/run/outlast"
SEARCH_PATH: Final = f"{TOOLS}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
NANO: Final = 1_000_000_000
_AGENT: Final = f"import sys; sys.path.insert(0, {TOOLS!r}); from inside.container_start import main; main()"


@dataclass(frozen=True, slots=True)
class Place:
    """Folders of this machine that the container sees: `tools` (the agent and Deno), `meeting` (for the agent's first
    contact with the server), `over` (single files, as host path and path inside). `user` is its numeric user and
    group."""

    tools: Path
    meeting: Path
    user: str
    over: Sequence[tuple[Path, str]] = ()


def container_name(sandbox_id: str) -> str:
    return f"outlast-{sandbox_id}"


def container_body(spec: SandboxSpec, image: str, owner: str, place: Place, runtime: str = "") -> dict[str, Any]:
    """The request that creates it, with the OCI runtime of that name ("" is the engine's default). No network device
    but loopback, no capabilities and no way to gain one, nothing writable but the workspace and two bounded temporary
    folders, and one user who owns nothing else."""
    return {
        "Image": image,
        "Entrypoint": [],
        "Cmd": ["python3", "-I", "-S", "-c", _AGENT],
        "Env": [f"PATH={SEARCH_PATH}", f"HOME={HOME}"],
        "User": place.user,
        "WorkingDir": "/",
        "Hostname": "sandbox",
        "NetworkDisabled": True,
        "Labels": {OWNER_LABEL: owner, SANDBOX_LABEL: spec.sandbox_id},
        "StopSignal": "SIGKILL",
        "HostConfig": {
            **hardening(),
            **bounds(spec),
            **_mounts(spec, place),
            **({"Runtime": runtime} if runtime else {}),
        },
    }


def hardening() -> dict[str, Any]:
    return {
        "NetworkMode": "none",
        "CapDrop": ["ALL"],
        "SecurityOpt": ["no-new-privileges"],
        "ReadonlyRootfs": True,
        "Privileged": False,
        "IpcMode": "private",
        "RestartPolicy": {"Name": "no"},
        "AutoRemove": False,
    }


def bounds(spec: SandboxSpec) -> dict[str, Any]:
    limits = spec.limits
    exact = {"nofile": open_files(), "nproc": max(limits.processes, 64), "core": 0, "fsize": limits.disk_bytes}
    return {
        "Memory": limits.memory_bytes,
        "MemorySwap": limits.memory_bytes,  # equal to the memory limit: no swap
        "NanoCpus": int(limits.cpu_count * NANO),
        "PidsLimit": limits.processes,
        "ShmSize": temporary_bytes(limits.memory_bytes).shm,
        "Ulimits": [{"Name": name, "Soft": value, "Hard": value} for name, value in exact.items()],
    }


def _mounts(spec: SandboxSpec, place: Place) -> dict[str, Any]:
    read_only: Mapping[str, str] = {
        str(place.tools): TOOLS,
        str(place.meeting): MEETING,
        **{str(path): inside for path, inside in place.over},
    }
    mounts = [
        {"Type": "bind", "Source": source, "Target": target, "ReadOnly": True} for source, target in read_only.items()
    ]
    workspace = str(spec.workspace_dir.resolve())
    at, temporary = ((WORKSPACE, HOME), ("/tmp",)) if spec.home_is_workspace else ((WORKSPACE,), ("/tmp", HOME))
    mounts += [{"Type": "bind", "Source": workspace, "Target": target, "ReadOnly": False} for target in at]
    shares = temporary_bytes(spec.limits.memory_bytes)
    sizes = {"/tmp": shares.tmp, HOME: shares.home}
    return {
        "Mounts": mounts,
        "Tmpfs": {path: f"rw,nosuid,nodev,exec,mode=1777,size={sizes[path]}" for path in temporary},
    }

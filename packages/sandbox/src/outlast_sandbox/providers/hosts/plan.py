"""The definition of a container on another machine: pure, so that its hardening can be read and tested in one place."""

import hashlib
from typing import Any, Final

from outlast_sandbox.interface import SandboxSpec
from outlast_sandbox.providers.docker.plan import OWNER_LABEL, SANDBOX_LABEL, SEARCH_PATH, bounds, hardening
from outlast_sandbox.providers.local.base_layer import TOOLS
from outlast_sandbox.providers.local.etc_files import HOME
from outlast_sandbox.providers.local.launch import SMALL_UID_BASE, SMALL_UID_SPAN, WORKSPACE, temporary_bytes

WORKSPACE_LABEL: Final = "outlast.workspace"
FENCE_LABEL: Final = "outlast.fence"
FILES: Final = "/run/outlast"
FILES_BYTES: Final = 2 * 1024**2
SPARE_PROCESSES: Final = 32  # beyond the sandbox's own limit: the relays must start even then
_BOOT: Final = f"import sys; sys.path.insert(0, {TOOLS!r}); "
_AGENT: Final = f"{_BOOT}from inside.host_start import main; main()"
RELAY: Final = ("python3", "-I", "-S", "-c", f"{_BOOT}from inside.relay import main; main()")


def users(sandbox_id: str) -> tuple[int, int]:
    """(user id of the sandbox, that of its relays): the same for the same sandbox. Two sandboxes rarely share one; then
    they share the kernel's count of processes too."""
    digest = hashlib.sha256(sandbox_id.encode()).digest()
    first = SMALL_UID_BASE + 2 * (int.from_bytes(digest[:8]) % (SMALL_UID_SPAN // 2))
    return first, first + 1


def volume_name(sandbox_id: str) -> str:
    return f"outlast-{sandbox_id}"


def labels(spec: SandboxSpec, owner: str) -> dict[str, str]:
    return {
        OWNER_LABEL: owner,
        SANDBOX_LABEL: spec.sandbox_id,
        WORKSPACE_LABEL: spec.workspace_id,
        FENCE_LABEL: str(spec.fence),
    }


def container_body(spec: SandboxSpec, image: str, owner: str, runtime: str) -> dict[str, Any]:
    """The request that creates it: the same walls as a container on this machine, but nothing is mounted of anyone's
    folders. Its workspace is a volume of the engine; agent and tools are in the image."""
    user, door = users(spec.sandbox_id)
    volume = {"Type": "volume", "Source": volume_name(spec.sandbox_id)}
    at, temporary = ((WORKSPACE, HOME), ("/tmp",)) if spec.home_is_workspace else ((WORKSPACE,), ("/tmp", HOME))
    shares = temporary_bytes(spec.limits.memory_bytes)
    sizes = {"/tmp": shares.tmp, HOME: shares.home}
    temporaries = {path: f"rw,nosuid,nodev,exec,mode=1777,size={sizes[path]}" for path in temporary}
    limits = bounds(spec)
    return {
        "Image": image,
        "Entrypoint": [],
        "Cmd": ["python3", "-I", "-S", "-c", _AGENT, str(door)],
        "Env": [f"PATH={SEARCH_PATH}", f"HOME={HOME}"],
        "User": f"{user}:{user}",
        "WorkingDir": "/",
        "Hostname": "sandbox",
        "NetworkDisabled": True,
        "Labels": labels(spec, owner),
        "StopSignal": "SIGKILL",
        "HostConfig": {
            **hardening(),
            **limits,
            "PidsLimit": limits["PidsLimit"] + SPARE_PROCESSES,
            "Mounts": [{**volume, "Target": target} for target in at],
            "Tmpfs": {**temporaries, FILES: f"rw,nosuid,nodev,noexec,mode=1777,size={FILES_BYTES}"},
            **({"Runtime": runtime} if runtime else {}),
        },
    }

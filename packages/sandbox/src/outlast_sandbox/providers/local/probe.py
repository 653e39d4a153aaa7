"""Reports the features of this machine, tested by use, and the exact commands that an operator has to run."""

import platform
import shutil
from pathlib import Path
from typing import Final

from outlast_sandbox.interface import ProbeReport

from .base_layer import find_deno
from .cgroups import Layout
from .launch import BWRAP, Powers
from .seccomp import UnknownArchitecture, filter_program

ISOLATION: Final = "namespaces"
_INSTALL: Final = "Install bubblewrap: apt install bubblewrap (Debian, Ubuntu), dnf install bubblewrap (Fedora)."
_APPARMOR: Final = (
    "Ubuntu 24.04 refuses user namespaces to unknown programs. Load its profile for /usr/bin/bwrap:"
    " apt install apparmor-profiles && cp /usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/"
    " && apparmor_parser -r /etc/apparmor.d/bwrap-userns-restrict. Or run the server as root."
)
_DOCKER: Final = (
    "In Docker or Podman, start the server's container with"
    " --security-opt seccomp=unconfined --security-opt systempaths=unconfined (Podman: --security-opt unmask=ALL)."
)
_SYSCTL: Final = "Allow user namespaces: sysctl -w kernel.unprivileged_userns_clone=1 user.max_user_namespaces=15000."


def missing_tools() -> ProbeReport | None:
    """A report if sandboxes cannot even be tried here."""
    if platform.system() != "Linux":
        return _refusal(
            f"{platform.system()} has no namespaces",
            "Run the server on Linux, or in a Docker or Podman virtual machine.",
        )
    if shutil.which(BWRAP) is None:
        return _refusal(f"{BWRAP} is not installed", _INSTALL)
    try:
        filter_program()
    except UnknownArchitecture:
        return _refusal(
            f"there is no system call filter for {platform.machine()}",
            "Run the server on an x86_64 or aarch64 machine.",
        )
    return None


def success(layout: Layout, powers: Powers, milliseconds: float) -> ProbeReport:
    if find_deno() is None:
        layout = Layout(
            layout.hierarchies, (*layout.notes, "no Deno was found, so there is no TypeScript: install `deno`")
        )
    details = [
        "bubblewrap with user, pid, network, ipc and uts namespaces and a system call filter",
        f"a sandbox started in {milliseconds:.0f} ms",
        "each sandbox has a user id of its own" if powers.own_user else "sandboxes run under the server's own user id",
        "the sandboxes share this machine's kernel",
        *layout.notes,
    ]
    if not layout.can_freeze:
        details.append("sandboxes cannot be frozen: no control group freezer can be written here")
    return ProbeReport(True, ISOLATION, tuple(details))


def failure(log: str) -> ProbeReport:
    """The output of the failed trial, and the fixes for this machine."""
    fixes = []
    if in_container():
        fixes.append(_DOCKER)
    if _reads("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1":
        fixes.append(_APPARMOR)
    if "0" in (_reads("/proc/sys/kernel/unprivileged_userns_clone"), _reads("/proc/sys/user/max_user_namespaces")):
        fixes.append(_SYSCTL)
    if not fixes:
        fixes = [_DOCKER, _APPARMOR, _SYSCTL]
    return ProbeReport(
        False, "none", (f"the trial sandbox did not start: {log.strip()[-600:] or 'no message'}",), tuple(fixes)
    )


def in_container() -> bool:
    return any(Path(mark).exists() for mark in ("/.dockerenv", "/run/.containerenv"))


def _refusal(detail: str, fix: str) -> ProbeReport:
    return ProbeReport(False, "none", (detail,), (fix,))


def _reads(path: str) -> str | None:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return None

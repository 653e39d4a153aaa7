"""Network namespaces as machines, joined by a bridge that lies in a namespace too: nothing of the host's own network is
touched, and two rigs may have the same addresses.

    with Network() as network:
        database = network.add("postgres")
        with database.inside():
            subprocess.Popen(…)  # sees that machine's network alone

The bridge stands on the machine `outside`, where the tests are while the network is open: faults never reach it. At the
end all processes of the machines are killed and the namespaces removed; what a killed test run has left is removed by
the next one, which knows it by the pid in its names.
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

import pytest

from tests import network_guard

PREFIX: Final = "outlast-rig"
SUBNET: Final = "10.77.0.0/24"
OUTSIDE: Final = "10.77.0.254"
BRIDGE: Final = "switch"
HERE: Final = "/proc/thread-self/ns/net"
_CLONE_NEWNET: Final = 0x40000000
_CAP_NET_ADMIN: Final = 12
_OURS: Final = re.compile(rf"\b({PREFIX}-(\d+)-\S+)")
_END_S: Final = 5.0
_libc = ctypes.CDLL(None, use_errno=True)


def missing() -> str:
    """Why there can be no such machines here; empty if there can."""
    if os.geteuid() != 0 or not _may_administer_networks():
        return "the cluster's machines are network namespaces: they need root with CAP_NET_ADMIN"
    lacking = [name for name in ("ip", "iptables", "setpriv", "mount") if shutil.which(name) is None]
    if lacking:
        return f"the cluster's machines need the programs {', '.join(lacking)} (make setup-dev)"
    probe = f"{PREFIX}-{os.getpid()}-probe"
    made = subprocess.run(["ip", "netns", "add", probe], capture_output=True, text=True, check=False)
    subprocess.run(["ip", "netns", "delete", probe], capture_output=True, check=False)
    return f"no network namespace can be made here: {made.stderr.strip()}" if made.returncode else ""


def require() -> None:
    """Skip the test, with the reason, where there can be no machines."""
    if reason := missing():
        pytest.skip(reason)


@dataclass(slots=True)
class Machine:
    """A network namespace with one address. Its processes are those that were started `inside`."""

    name: str
    label: str
    address: str
    _handle: int = field(default=-1, repr=False)

    @contextmanager
    def inside(self) -> Iterator[None]:
        """This thread sees the machine's network: sockets and processes made here belong to it for good. Await nothing
        within."""
        before = os.open(HERE, os.O_RDONLY)
        try:
            self.enter()
            yield
        finally:
            _set_namespace(before)
            os.close(before)

    def enter(self) -> None:
        """This thread sees the machine's network from now on."""
        if self._handle < 0:
            self._handle = os.open(f"/run/netns/{self.name}", os.O_RDONLY)
        _set_namespace(self._handle)

    def run(self, *words: str) -> str:
        """What a command prints that runs on this machine and ends. Raises `CalledProcessError`."""
        with self.inside():
            return subprocess.run(words, capture_output=True, text=True, check=True).stdout

    def popen(self, words: Sequence[str], log: Path, env: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
        """Start a process on this machine; what it prints goes to the end of `log`. It dies with the thread that calls
        this."""
        with self.inside(), log.open("ab") as output:
            return subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", *words],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=env,
                start_new_session=True,
            )

    def cut(self, other: Machine, chain: str) -> None:
        """Drop, without a word, what comes from the other machine (`INPUT`) or goes to it (`OUTPUT`)."""
        self.run("iptables", "-w", "-A", *_rule(other, chain))

    def mend(self, other: Machine, chain: str) -> None:
        """End a `cut`."""
        self.run("iptables", "-w", "-D", *_rule(other, chain))

    def close(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


class Network:
    """The bridge, the machine `outside` on which this thread stands, and the machines that were added."""

    def __init__(self) -> None:
        self.machines: dict[str, Machine] = {}
        self.outside = Machine(_name("outside"), "outside", OUTSIDE)
        self._home = -1

    def __enter__(self) -> Self:
        remove_left_over()
        network_guard.allow(SUBNET)
        self._home = os.open(HERE, os.O_RDONLY)
        try:
            _add_namespace(self.outside)
            self.outside.enter()
            _ip("link", "add", BRIDGE, "type", "bridge", "stp_state", "0", "forward_delay", "0")
            _ip("address", "add", f"{OUTSIDE}/24", "dev", BRIDGE)
            _ip("link", "set", BRIDGE, "up")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            for machine in (*self.machines.values(), self.outside):
                if machine is not self.outside:
                    _kill_all(machine.name)
                machine.close()
        finally:
            _set_namespace(self._home)
            os.close(self._home)
            network_guard.forget(SUBNET)
            for machine in (*self.machines.values(), self.outside):
                _delete_namespace(machine.name)
            _unmount(f"{PREFIX}-{os.getpid()}")

    def add(self, label: str) -> Machine:
        """A further machine. `label`: at most 12 characters."""
        number = len(self.machines) + 1
        machine = Machine(_name(label), label, f"10.77.0.{number}")
        self.machines[label] = machine
        _add_namespace(machine)
        port = f"v-{label}"
        _ip("link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", machine.name)
        _ip("link", "set", port, "master", BRIDGE, "up")
        _ip("-n", machine.name, "address", "add", f"{machine.address}/24", "dev", "eth0")
        _ip("-n", machine.name, "link", "set", "eth0", "up")
        return machine


def small_disk(folder: Path, megabytes: int) -> None:
    """Mount a file system of this size at a new folder. It goes with the network."""
    folder.mkdir(parents=True)
    source = f"{PREFIX}-{os.getpid()}"
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", source, str(folder)], check=True)


def remove_left_over() -> None:
    """Remove the machines of test runs that are no more."""
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout
    for name, pid in _OURS.findall(listed):
        if not Path(f"/proc/{pid}").exists():
            _kill_all(name)
            _delete_namespace(name)
            _unmount(f"{PREFIX}-{pid}")


def _name(label: str) -> str:
    return f"{PREFIX}-{os.getpid()}-{label}"


def _rule(other: Machine, chain: str) -> list[str]:
    return [chain, {"INPUT": "-s", "OUTPUT": "-d"}[chain], other.address, "-j", "DROP"]


def _add_namespace(machine: Machine) -> None:
    _ip("netns", "add", machine.name)
    _ip("-n", machine.name, "link", "set", "lo", "up")


def _delete_namespace(name: str) -> None:
    subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)


def _unmount(source: str) -> None:
    mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    for _, folder, *_ in (words for words in mounts if words[0] == source):
        subprocess.run(["umount", "--lazy", folder], check=False)


def _kill_all(name: str) -> None:
    """Kill every process of a machine, and wait until all are gone."""
    deadline = time.monotonic() + _END_S
    while time.monotonic() < deadline:
        listed = subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True, check=False).stdout
        alive = [int(pid) for pid in listed.split() if _is_alive(int(pid))]
        if not alive:
            return
        for pid in alive:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        os.sched_yield()


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _ip(*words: str) -> None:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"ip {' '.join(words)}: {done.stderr.strip()}")


def _set_namespace(handle: int) -> None:
    if _libc.setns(handle, _CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "this thread cannot enter the network namespace")


def _may_administer_networks() -> bool:
    status = Path("/proc/self/status").read_text()
    found = re.search(r"^CapEff:\s*([0-9a-f]+)$", status, re.MULTILINE)
    return found is not None and bool(int(found[1], 16) >> _CAP_NET_ADMIN & 1)

"""Network namespaces as machines: apart from each other and from the host, and gone at the end."""

from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path

import pytest

from tests.cluster import machines
from tests.cluster.machines import PREFIX, Machine, Network

PORT = 7000
WAIT_S = 0.5


def _links() -> str:
    return subprocess.run(["ip", "-o", "link"], capture_output=True, text=True, check=True).stdout


def _namespaces() -> str:
    return subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout


def _reaches(one: Machine, other: Machine) -> bool:
    with other.inside(), socket.create_server((other.address, PORT)), one.inside():
        try:
            socket.create_connection((other.address, PORT), timeout=WAIT_S).close()
        except OSError:
            return False
    return True


@pytest.mark.parametrize("chain", ["INPUT", "OUTPUT"])
def test_machines_reach_each_other_except_while_they_are_cut(chain: str) -> None:
    with Network() as network:
        one, other, third = (network.add(label) for label in ("one", "other", "third"))
        assert _reaches(one, other)
        one.cut(other, chain)
        assert not _reaches(one, other)
        assert _reaches(one, third)
        assert _reaches(network.outside, other)
        one.mend(other, chain)
        assert _reaches(one, other)


def test_the_hosts_network_stays_as_it_is_and_all_is_gone_at_the_end(tmp_path: Path) -> None:
    before = _links()
    with Network() as network:
        sleeper = network.add("sleeper").popen(["sleep", "1000"], tmp_path / "log")
        machines.small_disk(tmp_path / "disk", 1)
        assert before not in _links()  # this thread stands on a machine
    assert sleeper.wait(10) < 0
    assert _links() == before
    assert f"{PREFIX}-{os.getpid()}-" not in _namespaces()
    assert f"{PREFIX}-{os.getpid()} " not in Path("/proc/mounts").read_text()


def test_all_is_gone_where_the_test_fails() -> None:
    with pytest.raises(KeyError), Network() as network:
        network.add("left").mend(network.machines["missing"], "INPUT")
    assert f"{PREFIX}-{os.getpid()}-" not in _namespaces()


def test_what_a_killed_test_run_has_left_is_removed_by_the_next() -> None:
    dead = subprocess.Popen(["true"])
    dead.wait()
    name = f"{PREFIX}-{dead.pid}-node1"
    subprocess.run(["ip", "netns", "add", name], check=True)
    with Network():
        assert f"{name}\n" not in _namespaces().replace(" ", "\n")

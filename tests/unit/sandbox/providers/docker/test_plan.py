"""What a container is made of: hardened whatever the image says, bounded by the limits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from outlast_sandbox.interface import Limits, SandboxSpec
from outlast_sandbox.providers.docker.plan import OWNER_LABEL, SANDBOX_LABEL, Place, container_body

LIMITS = Limits(memory_bytes=256 * 1024**2, cpu_count=0.5, processes=100, disk_bytes=1024**3)
PLACE = Place(Path("/cache/tools"), Path("/data/meeting"), "500:500")


@pytest.fixture
def spec(tmp_path: Path) -> SandboxSpec:
    return SandboxSpec("sbx_1", tmp_path, LIMITS)


def host(spec: SandboxSpec, place: Place = PLACE) -> dict[str, Any]:
    config: dict[str, Any] = container_body(spec, "image:1", "node_1", place)["HostConfig"]
    return config


def test_there_is_no_network_no_capability_and_no_way_to_gain_one(spec: SandboxSpec) -> None:
    config = host(spec)
    assert config["NetworkMode"] == "none"
    assert config["CapDrop"] == ["ALL"]
    assert "CapAdd" not in config
    assert config["SecurityOpt"] == ["no-new-privileges"]
    assert config["ReadonlyRootfs"] is True
    assert config["Privileged"] is False


def test_the_limits_are_the_containers(spec: SandboxSpec) -> None:
    config = host(spec)
    assert config["Memory"] == config["MemorySwap"] == LIMITS.memory_bytes
    assert config["NanoCpus"] == 500_000_000
    assert config["PidsLimit"] == 100
    assert {limit["Name"] for limit in config["Ulimits"]} == {"nofile", "nproc", "core", "fsize"}


def test_only_the_workspace_and_bounded_temporary_folders_are_writable(spec: SandboxSpec) -> None:
    config = host(spec)
    writable = {mount["Target"] for mount in config["Mounts"] if not mount["ReadOnly"]}
    assert writable == {"/workspace"}
    assert set(config["Tmpfs"]) == {"/tmp", "/home/user"}
    sizes = {path: int(options.rpartition("size=")[2]) for path, options in config["Tmpfs"].items()}
    assert sum(sizes.values()) + config["ShmSize"] <= LIMITS.memory_bytes * 7 // 8
    assert max(*sizes.values(), config["ShmSize"]) <= LIMITS.memory_bytes // 2


def test_the_home_folder_can_be_the_workspace(spec: SandboxSpec) -> None:
    config = host(replace(spec, home_is_workspace=True))
    mounts = {mount["Target"]: mount for mount in config["Mounts"]}
    assert mounts["/home/user"]["Source"] == mounts["/workspace"]["Source"]
    assert set(config["Tmpfs"]) == {"/tmp"}


def test_the_agents_socket_is_not_among_what_it_sees(spec: SandboxSpec) -> None:
    sources = {mount["Source"] for mount in host(spec)["Mounts"]}
    assert sources == {"/cache/tools", "/data/meeting", str(spec.workspace_dir.resolve())}


def test_it_is_found_again_by_its_labels_and_runs_as_a_user_of_its_own(spec: SandboxSpec) -> None:
    body = container_body(spec, "image:1", "node_1", PLACE)
    assert body["Labels"] == {OWNER_LABEL: "node_1", SANDBOX_LABEL: "sbx_1"}
    assert body["User"] == "500:500"
    assert body["Entrypoint"] == []


def test_nothing_of_the_environment_is_in_the_request(spec: SandboxSpec) -> None:
    body = container_body(replace(spec, env={"TOKEN": "a secret"}), "image:1", "node_1", PLACE)
    assert "a secret" not in str(body)

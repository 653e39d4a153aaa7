"""What only a container shows: its walls, its engine, and what is left when a start fails."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from outlast_sandbox.errors import SandboxLost, SandboxUnavailable
from outlast_sandbox.interface import Command, Evaluation, Limits, Orphan, SandboxSpec
from outlast_sandbox.providers.docker import provider as module
from outlast_sandbox.providers.docker.plan import OWNER_LABEL, SANDBOX_LABEL
from outlast_sandbox.providers.docker.provider import DockerProvider, open_provider
from outlast_sandbox.providers.docker.sandbox import DockerSandbox
from outlast_sandbox.providers.setup import ProviderSetup
from tests.sandbox.podman import IMAGE, Podman

pytestmark = pytest.mark.sandbox
Another = Callable[..., DockerProvider]


@pytest.fixture
async def container(docker: DockerProvider, spec: SandboxSpec) -> AsyncIterator[DockerSandbox]:
    sandbox = await docker.create(spec)
    yield sandbox
    await sandbox.aclose()


@pytest.fixture
def another(docker: DockerProvider, podman: Podman, cache_dir: Path) -> Another:
    """A provider as a restarted server would open it, or a server of its own."""

    def make(*, owner: str = "", image: str = IMAGE, socket: str = "") -> DockerProvider:
        options = {"image": image, "socket": socket or str(podman.socket)}
        mine = owner or docker._owner
        made = open_provider(
            ProviderSetup(state_dir=docker.state_dir, cache_dir=cache_dir, owner=mine, options=options)
        )
        assert isinstance(made, DockerProvider)
        return made

    return make


def names(podman: Podman) -> list[str]:
    return podman("ps", "--all", "--format", "{{.Names}}").stdout.split()


async def output(sandbox: DockerSandbox, script: str) -> str:
    return (await sandbox.run(Command(f"eff_{os.urandom(4).hex()}", 1, script, timeout_s=60))).output


async def test_a_container_has_no_rights_no_network_and_nothing_to_write_but_its_files(
    container: DockerSandbox,
) -> None:
    status = await output(container, "cat /proc/self/status; ls /sys/class/net; grep -c : /proc/net/dev")
    facts = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert {facts[name] for name in ("CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0" * 16}
    assert facts["NoNewPrivs"] == "1"
    assert status.splitlines()[-2:] == ["lo", "1"]
    assert "0" not in facts["Uid"].split(), "it must not be root, on the outside either"
    refused = "touch /a /usr/a /etc/a /opt/outlast/a /run/outlast/a; touch /tmp/a ~/a /workspace/a && echo written"
    told = await output(container, refused)
    assert told.count("cannot touch") == 5
    assert told.endswith("written\n")
    assert await output(container, "ls -A /run/outlast") == "", "the agent's socket is out of reach"


async def test_what_takes_too_much_memory_is_ended_and_the_sandbox_lives(container: DockerSandbox) -> None:
    result = await container.run(Command("eff_1", 1, "python3 -c 'a = bytearray(10**9)'", timeout_s=60))
    assert result.killed_reason == "memory"
    assert await output(container, "echo alive") == "alive\n"


async def test_no_more_processes_than_allowed_run(container: DockerSandbox) -> None:
    await container.run(Command("eff_1", 1, "for i in $(seq 400); do sleep 60 & done; wait", timeout_s=2))
    assert (await container.statistics()).processes <= 128
    assert await output(container, "echo alive") == "alive\n"


async def test_typescript_runs_in_any_image(container: DockerSandbox) -> None:
    result = await container.evaluate(Evaluation("eff_1", 1, "typescript", "const a: number = 20; a + 1"))
    assert (result.success, result.result) == (True, 21)


async def test_a_restarted_server_finds_the_container_and_the_command_that_ran_on(
    container: DockerSandbox, another: Another
) -> None:
    begun = anyio.Event()
    command = Command("eff_1", 1, "echo begun; sleep 0.5; echo ended >> runs.txt; cat runs.txt")
    async with anyio.create_task_group() as tasks:

        async def follow() -> None:
            await container.run(command, lambda _text: begun.set())

        tasks.start_soon(follow)
        await begun.wait()
        tasks.cancel_scope.cancel()
    restarted = another()
    (found,) = await restarted.list_refs()
    assert found == (container.sandbox_id, container.ref)
    again = await restarted.connect(*found)
    assert (await again.run(replace(command, attempt=2))).output == "begun\nended\n"
    await again.aclose()


async def test_another_servers_containers_are_not_ours(container: DockerSandbox, another: Another) -> None:
    assert container.sandbox_id
    assert await another(owner="node_other").list_refs() == []


async def test_frozen_time_does_not_count_against_a_time_limit(container: DockerSandbox) -> None:
    begun = anyio.Event()
    results = []
    async with anyio.create_task_group() as tasks:

        async def run() -> None:
            command = Command("eff_1", 1, "echo begun; sleep 1; echo ended", timeout_s=4)
            results.append(await container.run(command, lambda _text: begun.set()))

        tasks.start_soon(run)
        await begun.wait()
        await container.freeze()
        since = container._folder / "frozen_since"
        since.write_text(str(float(since.read_text()) - 3600))  # as if it had stood still for an hour
        await container.thaw()
    assert results[0].output == "begun\nended\n"
    assert not results[0].timed_out


async def test_the_way_out_is_the_servers_listener(docker: DockerProvider, spec: SandboxSpec) -> None:
    sandbox = await docker.create(replace(spec, egress=True))
    listener = await sandbox.egress_listener()
    with listener:
        connect = "import socket; socket.create_connection(('127.0.0.1', 3128)).sendall(b'out')"
        assert await output(sandbox, f'echo $HTTPS_PROXY; python3 -c "{connect}"') == "http://127.0.0.1:3128\n"
        await anyio.wait_readable(listener)
        inner, _ = listener.accept()
        with inner:
            inner.settimeout(10)
            assert inner.recv(10) == b"out"
    await sandbox.aclose()


async def test_the_servers_authority_is_trusted_inside(docker: DockerProvider, spec: SandboxSpec) -> None:
    pem = "-----BEGIN CERTIFICATE-----\nours\n-----END CERTIFICATE-----"
    sandbox = await docker.create(replace(spec, egress=True, authority_pem=pem))
    assert "ours" in await output(sandbox, 'cat "$SSL_CERT_FILE"')
    assert await output(sandbox, 'cat "$DENO_CERT"') == f"{pem}\n"
    await sandbox.aclose()


async def test_the_home_folder_is_the_workspace_where_that_is_asked_for(
    docker: DockerProvider, spec: SandboxSpec
) -> None:
    sandbox = await docker.create(replace(spec, home_is_workspace=True))
    await sandbox.write_files([("a.txt", b"text")])
    assert await output(sandbox, "pwd; cat ~/a.txt /workspace/a.txt") == "/home/user\ntexttext"
    await sandbox.aclose()


async def test_a_container_ended_from_outside_is_lost_and_swept_up(
    docker: DockerProvider, container: DockerSandbox, podman: Podman
) -> None:
    assert podman("kill", container.ref).returncode == 0
    with pytest.raises(SandboxLost):
        await container.run(Command("eff_1", 1, "true"))
    with pytest.raises(SandboxLost):
        await container.statistics()
    assert await docker.list_refs() == []
    assert f"outlast-{container.sandbox_id}" not in names(podman)
    assert list(docker.state_dir.iterdir()) == []


async def test_what_a_dead_server_left_half_made_is_swept_up_once_it_is_old(
    docker: DockerProvider, spec: SandboxSpec, podman: Podman, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = await docker.engine()
    body = {"Image": IMAGE, "Cmd": ["true"], "Labels": {OWNER_LABEL: docker._owner, SANDBOX_LABEL: spec.sandbox_id}}
    await engine.create(f"outlast-{spec.sandbox_id}", {**body, "HostConfig": {"NetworkMode": "none"}})
    (docker.state_dir / spec.sandbox_id).mkdir(parents=True)
    (docker.state_dir / "sbx_removed_by_hand").mkdir()
    assert await docker.list_refs() == []
    assert f"outlast-{spec.sandbox_id}" in names(podman), "it may be about to start"
    monkeypatch.setattr(module, "FORGOTTEN_AFTER_S", -1.0)
    assert await docker.list_refs() == []
    assert f"outlast-{spec.sandbox_id}" not in names(podman)
    assert list(docker.state_dir.iterdir()) == []


async def test_a_killed_container_leaves_nothing_even_when_it_was_frozen(
    docker: DockerProvider, container: DockerSandbox, podman: Podman
) -> None:
    await container.freeze()
    await container.kill()
    assert f"outlast-{container.sandbox_id}" not in names(podman)
    assert list(docker.state_dir.iterdir()) == []


async def test_a_missing_image_is_said_and_leaves_nothing(
    docker: DockerProvider, another: Another, spec: SandboxSpec, podman: Podman
) -> None:
    with pytest.raises(SandboxUnavailable, match="no such image") as caught:
        await another(image="localhost/never-built:1").create(spec)
    assert "docker pull localhost/never-built:1" in caught.value.hint
    assert f"outlast-{spec.sandbox_id}" not in names(podman)
    assert list(docker.state_dir.iterdir()) == []


async def test_an_image_without_python_is_said_and_leaves_nothing(
    docker: DockerProvider, another: Another, spec: SandboxSpec, podman: Podman, tmp_path: Path
) -> None:
    podman("rmi", "localhost/empty:1")
    (tmp_path / "empty.tar").write_bytes(bytes(10240))
    assert podman("import", str(tmp_path / "empty.tar"), "localhost/empty:1").returncode == 0
    report = await another(image="localhost/empty:1").probe()
    assert not report.ok
    assert "python3" in report.details[0]
    assert "has Python 3.9" in report.fixes[0]
    assert not [name for name in names(podman) if "probe" in name]
    assert list(docker.state_dir.iterdir()) == []


@pytest.mark.parametrize("point", ["create", "start", "wait_end"])
async def test_a_cancelled_start_leaves_nothing(
    docker: DockerProvider, spec: SandboxSpec, podman: Podman, point: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = await docker.engine()
    real = getattr(engine, point)
    async with anyio.create_task_group() as tasks:

        async def cancelling(*words: object) -> object:
            tasks.cancel_scope.cancel()
            return await real(*words)

        monkeypatch.setattr(engine, point, cancelling)
        await docker.create(spec)
    monkeypatch.undo()
    assert tasks.cancel_scope.cancelled_caught
    assert f"outlast-{spec.sandbox_id}" not in names(podman)
    assert list(docker.state_dir.iterdir()) == []


async def test_without_an_engine_the_fix_is_said(another: Another, tmp_path: Path, spec: SandboxSpec) -> None:
    provider = another(socket=str(tmp_path / "no.sock"))
    report = await provider.probe()
    assert not report.ok
    assert "no container engine answers" in report.details[0]
    assert "systemctl start docker" in report.fixes[0]
    with pytest.raises(SandboxUnavailable):
        await provider.create(spec)


async def test_statistics_tell_memory_processes_and_time(container: DockerSandbox) -> None:
    found = await container.statistics()
    assert 1_000_000 < found.memory_bytes < Limits().memory_bytes
    assert found.processes >= 1
    assert found.cpu_s > 0


def leave(provider: DockerProvider) -> None:
    """As the kernel does it when a server's process ends."""
    held = provider._presence._held
    assert held is not None
    held.close()


async def is_running(provider: DockerProvider, ref: str) -> bool:
    facts = await (await provider.engine()).inspect(ref)
    return facts is not None and facts["State"]["Status"] == "running"


async def test_one_whose_server_never_comes_back_ends_and_leaves_its_files(
    another: Another, podman: Podman, spec: SandboxSpec
) -> None:
    gone = another()
    sandbox = await gone.create(replace(spec, orphan=Orphan(0.2, 1.0)))
    await output(sandbox, "echo kept > kept.txt; (while true; do sleep 0.1; done) > /dev/null 2>&1 &")
    assert await is_running(gone, sandbox.ref)
    leave(gone)
    await (await gone.engine()).wait_end(sandbox.ref)
    assert (spec.workspace_dir / "kept.txt").read_text() == "kept\n"
    assert await another().list_refs() == [], "the next server removes what is left of it"
    assert not [name for name in names(podman) if spec.sandbox_id in name]


async def test_one_whose_server_lives_or_comes_back_is_let_be(another: Another, spec: SandboxSpec) -> None:
    gone, there = another(), another()
    sandbox = await gone.create(replace(spec, orphan=Orphan(0.1, 0.5)))
    await there.engine()  # a server is there from then on
    leave(gone)
    await anyio.sleep(1.5)
    assert await is_running(there, sandbox.ref)
    assert await output(await there.connect(spec.sandbox_id, sandbox.ref), "echo lives") == "lives\n"
    await sandbox.kill()

"""What only sandboxes on other machines show: one stream for everything, hosts that come and go, and fences."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from outlast_sandbox.errors import HostUnreachable, InvalidSetting, NotFound, SandboxLost, SandboxUnavailable
from outlast_sandbox.interface import Command, Evaluation, Orphan, SandboxSpec
from outlast_sandbox.ports.line import Line
from outlast_sandbox.providers.docker.engine import Engine
from outlast_sandbox.providers.docker.plan import Place
from outlast_sandbox.providers.docker.plan import container_body as here_body
from outlast_sandbox.providers.docker.provider import open_provider
from outlast_sandbox.providers.hosts.plan import container_body
from outlast_sandbox.providers.hosts.provider import HostsProvider
from outlast_sandbox.providers.hosts.sandbox import HostSandbox
from outlast_sandbox.providers.setup import ProviderSetup, SandboxHost
from tests.sandbox.engine_gate import EngineGate
from tests.sandbox.podman import IMAGE, Podman, running_podman

pytestmark = pytest.mark.sandbox
Another = Callable[..., HostsProvider]


@pytest.fixture
def another(hosts: HostsProvider, gate: EngineGate, cache_dir: Path, tmp_path: Path) -> Another:
    """A provider as another server of the same database has it, or the same one after a restart."""

    def make(*places: SandboxHost, **options: str) -> HostsProvider:
        setup = ProviderSetup(
            state_dir=tmp_path / f"another_{os.urandom(4).hex()}",
            cache_dir=cache_dir,
            owner=hosts._owner,
            options={"image": IMAGE, **options},
            hosts=places or (gate.host("one"),),
        )
        made = open_provider(setup)
        assert isinstance(made, HostsProvider)
        return made

    return make


@pytest.fixture
async def box(hosts: HostsProvider, spec: SandboxSpec) -> AsyncIterator[HostSandbox]:
    sandbox = await hosts.create(spec)
    yield sandbox
    await sandbox.aclose()


def names(podman: Podman) -> list[str]:
    return podman("ps", "--all", "--format", "{{.Names}}").stdout.split()


async def output(sandbox: HostSandbox, script: str) -> str:
    return (await sandbox.run(Command(f"eff_{os.urandom(4).hex()}", 1, script, timeout_s=60))).output


async def test_nothing_of_the_server_is_mounted_and_no_port_is_published(
    box: HostSandbox, podman: Podman, tmp_path: Path, cache_dir: Path
) -> None:
    facts = json.loads(podman("inspect", box.ref.partition("/")[2]).stdout)[0]
    sources = [mount.get("Source", "") for mount in facts["Mounts"] if mount["Type"] != "tmpfs"]
    assert [mount["Type"] for mount in facts["Mounts"] if mount["Type"] != "tmpfs"] == ["volume"]
    assert not [source for source in sources if source.startswith((str(tmp_path), str(cache_dir)))]
    assert not facts["HostConfig"]["PortBindings"]
    seen = await output(box, "cat /proc/self/mountinfo; ls /sys/class/net")
    assert str(tmp_path) not in seen
    assert str(cache_dir) not in seen
    assert seen.endswith("\nlo\n")


async def test_code_inside_has_no_rights_and_cannot_reach_the_agent(box: HostSandbox) -> None:
    status = await output(box, "cat /proc/self/status")
    facts = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert {facts[name] for name in ("CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0" * 16}
    assert facts["NoNewPrivs"] == "1"
    assert "0" not in facts["Uid"].split()
    script = "import socket; s = socket.socket(socket.AF_UNIX); s.connect('\\0outlast-agent'); print(s.recv(10))"
    assert await output(box, f'python3 -c "{script}"') == "b''\n", "the agent hangs up"
    refused = "touch /a /usr/a /etc/a /opt/outlast/a; touch /tmp/a ~/a /workspace/a && echo written"
    told = await output(box, refused)
    assert told.count("cannot touch") == 4
    assert told.endswith("written\n")
    assert "kill" in await output(box, "for pid in $(pgrep -f inside.relay); do kill $pid; done 2>&1; echo kill")
    assert await output(box, "echo lives") == "lives\n"


async def test_processes_and_variables_survive_a_cut_stream(box: HostSandbox, gate: EngineGate) -> None:
    await box.evaluate(Evaluation("eff_a", 1, "python", "kept = 20"))
    heard: list[str] = []
    begun = anyio.Event()

    def listen(text: str) -> None:
        heard.append(text)
        begun.set()

    results = []
    async with anyio.create_task_group() as tasks:

        async def run() -> None:
            results.append(await box.run(Command("eff_1", 1, "echo begun; sleep 1; echo ended"), listen))

        tasks.start_soon(run)
        await begun.wait()
        gate.cut()
    assert results[0].output == "begun\nended\n" == "".join(heard)
    assert (await box.evaluate(Evaluation("eff_b", 1, "python", "kept + 1"))).result == 21


async def test_another_server_finds_the_sandbox_with_its_processes_and_variables(
    hosts: HostsProvider, box: HostSandbox, another: Another
) -> None:
    await box.evaluate(Evaluation("eff_a", 1, "python", "kept = 20"))
    begun = anyio.Event()
    command = Command("eff_1", 1, "echo begun; sleep 0.5; echo ended >> runs.txt; cat runs.txt")
    async with anyio.create_task_group() as tasks:

        async def follow() -> None:
            await box.run(command, lambda _text: begun.set())

        tasks.start_soon(follow)
        await begun.wait()
        tasks.cancel_scope.cancel()
    next_server = another()
    (found,) = await next_server.list_refs()
    assert found == (box.sandbox_id, box.ref)
    assert next_server.host_of(box.ref) == "one"
    again = await next_server.connect(*found)
    assert (await again.run(replace(command, attempt=2))).output == "begun\nended\n"
    assert (await again.evaluate(Evaluation("eff_b", 1, "python", "kept + 1"))).result == 21
    assert await output(box, "echo both") == "both\n", "two servers may use it at once"
    await again.aclose()


async def test_ports_inside_are_reached_over_the_stream(box: HostSandbox) -> None:
    with pytest.raises(NotFound):
        await box.dial(3000)
    serve = "import socket; s = socket.create_server(('127.0.0.1', 3000)); print('up', flush=True)\n"
    serve += "while True:\n c = s.accept()[0]\n data = c.makefile('rb').read()\n c.sendall(data[::-1]); c.close()"
    await box.write_files([("serve.py", serve.encode())])
    await output(box, "python3 serve.py > log 2>&1 & while ! grep -q up log; do sleep 0.02; done")
    sent = os.urandom(3_000_000)  # more than any window
    line = Line(await box.dial(3000))
    received = bytearray()
    async with anyio.create_task_group() as tasks:

        async def send() -> None:
            await line.send(sent)
            line.end()

        tasks.start_soon(send)
        while data := await line.receive():
            received += data
    line.close()
    assert bytes(received) == sent[::-1]


async def test_the_way_out_leads_to_the_server_and_the_newest_one_has_it(
    hosts: HostsProvider, spec: SandboxSpec, another: Another, gate: EngineGate
) -> None:
    box = await hosts.create(replace(spec, egress=True))
    connect = "import socket; s = socket.create_connection(('127.0.0.1', 3128)); s.sendall(b'out'); print(s.recv(9))"
    script = f'python3 -c "{connect}"'

    async def through(listener: object, sandbox: HostSandbox) -> str:
        told = []
        async with anyio.create_task_group() as tasks:

            async def run() -> None:
                told.append(await output(sandbox, script))

            tasks.start_soon(run)
            await anyio.wait_readable(listener)  # type: ignore[arg-type]
            inner, _ = listener.accept()  # type: ignore[attr-defined]
            line = Line(inner)
            assert await line.receive() == b"out"
            await line.send(b"in")
            line.close()
        return told[0]

    with await box.egress_listener() as listener:
        assert await through(listener, box) == "b'in'\n"
        gate.cut()
        assert await output(box, "echo again") == "again\n"
        assert await through(listener, box) == "b'in'\n", "the same listener, over a new stream"
        other = await another().connect(box.sandbox_id, box.ref)
        with await other.egress_listener() as theirs:
            assert await through(theirs, box) == "b'in'\n"
            with pytest.raises(BlockingIOError):
                listener.accept()
        await other.aclose()
    await box.aclose()


async def test_frozen_time_does_not_count_and_another_server_waits(box: HostSandbox, another: Another) -> None:
    begun = anyio.Event()
    results = []
    async with anyio.create_task_group() as tasks:

        async def run() -> None:
            command = Command("eff_1", 1, "echo begun; sleep 1; echo ended", timeout_s=4)
            results.append(await box.run(command, lambda _text: begun.set()))

        tasks.start_soon(run)
        await begun.wait()
        await box.freeze()
        elsewhere = await another().connect(box.sandbox_id, box.ref)
        assert await elsewhere.statistics() is None
        assert await box.statistics() is None
        await anyio.sleep(5)
        await box.thaw()
    assert results[0].output == "begun\nended\n"
    assert not results[0].timed_out
    await elsewhere.thaw()
    assert await output(elsewhere, "echo lives") == "lives\n"
    await elsewhere.aclose()


async def test_one_whose_servers_never_come_back_ends(hosts: HostsProvider, spec: SandboxSpec) -> None:
    sandbox = await hosts.create(replace(spec, orphan=Orphan(0.2, 0.5)))
    await output(sandbox, "sleep 1")
    await sandbox.aclose()
    engine = hosts._hosts["one"].engine
    with anyio.fail_after(20):
        await engine.wait_end(sandbox.ref.partition("/")[2])
    assert await hosts.list_refs() == []


async def test_the_servers_authority_is_trusted_inside_and_the_home_folder_may_be_the_workspace(
    hosts: HostsProvider, spec: SandboxSpec
) -> None:
    pem = "-----BEGIN CERTIFICATE-----\nours\n-----END CERTIFICATE-----"
    sandbox = await hosts.create(replace(spec, egress=True, authority_pem=pem, home_is_workspace=True))
    assert "ours" in await output(sandbox, 'cat "$SSL_CERT_FILE"')
    assert await output(sandbox, 'cat "$DENO_CERT"') == f"{pem}\n"
    await sandbox.write_files([("a.txt", b"text")])
    assert (await output(sandbox, "cat ~/a.txt /workspace/a.txt")).endswith("texttext")
    await sandbox.aclose()


async def test_a_killed_sandbox_leaves_no_container_and_no_volume(box: HostSandbox, podman: Podman) -> None:
    await box.kill()
    assert f"outlast-{box.sandbox_id}" not in names(podman)
    assert f"outlast-{box.sandbox_id}" not in podman("volume", "ls", "--quiet").stdout.split()
    with pytest.raises(SandboxLost):
        await box.run(Command("eff_1", 1, "true"))


async def test_a_container_ended_from_outside_is_lost_and_swept_up(
    hosts: HostsProvider, box: HostSandbox, podman: Podman
) -> None:
    assert podman("kill", box.ref.partition("/")[2]).returncode == 0
    with pytest.raises(SandboxLost):
        await box.run(Command("eff_1", 1, "true"))
    assert await hosts.list_refs() == []
    assert f"outlast-{box.sandbox_id}" not in names(podman)


async def test_a_host_that_does_not_answer_loses_nothing(
    hosts: HostsProvider, box: HostSandbox, gate: EngineGate, spec: SandboxSpec
) -> None:
    await box.evaluate(Evaluation("eff_a", 1, "python", "kept = 20"))
    gate.shut()
    for call in (box.run(Command("eff_1", 1, "true")), hosts.connect(box.sandbox_id, box.ref), hosts.list_refs()):
        with pytest.raises(HostUnreachable) as caught:
            await call
        assert caught.value.code == "host_unreachable"
    with pytest.raises(HostUnreachable, match="No sandbox host answers"):
        await hosts.create(replace(spec, sandbox_id=f"{spec.sandbox_id}b"))
    (state,) = hosts.host_states()
    assert "no container engine answers" in state.problem
    assert 0 < state.retry_in_s <= 300
    report = await hosts.probe()
    assert not report.ok
    assert "host one" in report.details[0]
    gate.open()
    assert (await box.evaluate(Evaluation("eff_b", 1, "python", "kept + 1"))).result == 21
    assert hosts.host_states()[0].problem == ""


async def test_without_the_servers_certificate_the_host_does_not_answer(gate: EngineGate, another: Another) -> None:
    stranger = another(gate.host("one", tls_cert="", tls_key=""))
    report = await stranger.probe()
    assert not report.ok
    assert "no container engine answers" in report.details[0]


async def test_what_carries_an_older_fence_is_ended(hosts: HostsProvider, spec: SandboxSpec, podman: Podman) -> None:
    old = await hosts.create(replace(spec, workspace_id="ws_1", fence=3))
    other = await hosts.create(replace(spec, sandbox_id=f"{spec.sandbox_id}o", workspace_id="ws_2", fence=1))
    assert await hosts.kill_older("one", "ws_1", 3) == []
    assert await hosts.kill_older("one", "ws_1", 4) == [old.sandbox_id]
    assert await hosts.kill_older("one", "ws_1", 4) == []
    assert f"outlast-{old.sandbox_id}" not in names(podman)
    assert await output(other, "echo lives") == "lives\n"
    with pytest.raises(HostUnreachable, match="not configured"):
        await hosts.kill_older("gone", "ws_1", 4)
    await other.aclose()


async def test_a_host_that_comes_back_serves_no_byte_of_an_old_fence(
    hosts: HostsProvider, spec: SandboxSpec, gate: EngineGate, another: Another, podman: Podman
) -> None:
    current = {"ws_1": 1, "ws_2": 1}

    async def fences(asked: Sequence[str]) -> Mapping[str, int]:
        return {workspace: current[workspace] for workspace in asked}

    hosts.use_fences(fences)
    old = await hosts.create(replace(spec, workspace_id="ws_1", fence=1))
    other = await hosts.create(replace(spec, sandbox_id=f"{spec.sandbox_id}o", workspace_id="ws_2", fence=1))
    assert await output(old, "echo old") == "old\n"
    gate.shut()
    with pytest.raises(HostUnreachable):
        await hosts.list_refs()
    current["ws_1"] = 2  # its files were restored elsewhere
    gate.open()
    with pytest.raises(SandboxLost):
        await old.run(Command("eff_1", 1, "echo late"))
    assert f"outlast-{old.sandbox_id}" not in names(podman)
    assert await output(other, "echo lives") == "lives\n"
    await other.aclose()
    await old.aclose()


@pytest.fixture(scope="session")
def second_podman() -> Iterator[Podman]:
    with tempfile.TemporaryDirectory(prefix="pod") as folder, running_podman(Path(folder)) as podman:
        yield podman


async def test_sandboxes_go_to_the_host_with_the_most_room_that_answers(
    spec: SandboxSpec, another: Another, podman: Podman, gate: EngineGate, second_podman: Podman
) -> None:
    with EngineGate(second_podman.socket, None) as second:
        places = (gate.host("one", capacity=2), second.host("two", capacity=2, labels=("gpu",)))
        provider = another(*places)
        ids = [f"{spec.sandbox_id}n{number}" for number in range(3)]
        made = [await provider.create(replace(spec, sandbox_id=sandbox_id)) for sandbox_id in ids]
        assert [provider.host_of(box.ref) for box in made] == ["one", "two", "one"]
        assert [await output(box, "echo $((6 * 7))") for box in made] == ["42\n"] * 3
        for sandbox_id, ref in await provider.list_refs():
            assert (provider.host_of(ref) == "two") == (f"outlast-{sandbox_id}" in names(second_podman))
        gate.shut()
        on_two = await provider.create(replace(spec, sandbox_id=f"{spec.sandbox_id}n4"))
        assert provider.host_of(on_two.ref) == "two"
        with pytest.raises(SandboxUnavailable, match="full"):
            await provider.create(replace(spec, sandbox_id=f"{spec.sandbox_id}n5"))
        with pytest.raises(SandboxUnavailable, match="labels tpu"):
            await provider.create(replace(spec, sandbox_id=f"{spec.sandbox_id}n6", host_labels=("tpu",)))
        gate.open()
        for box in (*made, on_two):
            await box.kill()
        assert await provider.list_refs() == []


@pytest.mark.parametrize("runtime", ["", "runsc"])
def test_the_runtime_of_the_setting_is_asked_of_the_engine(spec: SandboxSpec, runtime: str) -> None:
    place = Place(Path("/tools"), Path("/meeting"), "1:1")
    for body in (container_body(spec, IMAGE, "me", runtime), here_body(spec, IMAGE, "me", place, runtime)):
        assert body["HostConfig"].get("Runtime", "") == runtime


async def test_two_hosts_of_one_name_are_refused(another: Another, gate: EngineGate) -> None:
    with pytest.raises(InvalidSetting, match="name of its own"):
        another(gate.host("one"), gate.host("one"))


async def test_an_engine_behind_ssh_is_reached_through_the_program(
    podman: Podman, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spec: SandboxSpec, another: Another
) -> None:
    """With a stand-in for `ssh` that joins its streams to the engine's socket, as `dial-stdio` does on the far side."""
    program = tmp_path / "bin" / "ssh"
    program.parent.mkdir()
    join = "import os, select, socket, sys\ns = socket.socket(socket.AF_UNIX)\n"
    join += f"s.connect({str(podman.socket)!r})\nassert sys.argv[-2] == 'box.example'\n"
    join += "while True:\n r = select.select([0, s], [], [])[0]\n for f in r:\n"
    join += "  d = os.read(0, 65536) if f == 0 else s.recv(65536)\n  if not d: sys.exit()\n"
    join += "  s.sendall(d) if f == 0 else os.write(1, d)\n"
    program.write_text(f"#!/usr/bin/python3\n{join}")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    provider = another(SandboxHost(name="far", url="ssh://deploy@box.example"))
    assert isinstance(provider._hosts["far"].engine, Engine)
    sandbox = await provider.create(spec)
    assert sandbox.ref.startswith("far/")
    assert await output(sandbox, "echo over ssh") == "over ssh\n"
    await sandbox.kill()

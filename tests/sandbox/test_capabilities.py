"""What a provider declares it can do; what it declares missing it refuses, saying which capability it lacks."""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable
from dataclasses import asdict

import anyio
import pytest

from outlast_sandbox.errors import NotFound, SandboxUnavailable
from outlast_sandbox.interactive import ProcessEnd, ProcessSpec
from outlast_sandbox.interface import Command, Sandbox, SandboxProvider, SandboxSpec, SnapshotRecipe

SERVE = """
import socket
listener = socket.create_server(("127.0.0.1", 4000))
print("listening", flush=True)
while True:
    connection, _ = listener.accept()
    connection.sendall(connection.recv(100).upper())
    connection.close()
"""
Call = Callable[[SandboxProvider, Sandbox], Awaitable[object]]


async def _processes(_provider: SandboxProvider, sandbox: Sandbox) -> object:
    return sandbox.processes


async def _files(_provider: SandboxProvider, sandbox: Sandbox) -> object:
    return sandbox.files


def _quiet(_step: str, _output: str) -> None:
    return None


CALLS: list[tuple[str, Call]] = [
    ("pause", lambda _provider, sandbox: sandbox.freeze()),
    ("preview", lambda _provider, sandbox: sandbox.dial(4000)),
    ("egress", lambda _provider, sandbox: sandbox.egress_listener()),
    ("interactive", _processes),
    ("interactive", _files),
    ("snapshot", lambda provider, _sandbox: provider.build_snapshot(SnapshotRecipe("snap_1"), _quiet)),
]


async def test_what_a_provider_lacks_it_refuses_by_name(provider: SandboxProvider, sandbox: Sandbox) -> None:
    declared = asdict(provider.capabilities)
    for capability, call in CALLS:
        if not declared[capability]:
            with pytest.raises(SandboxUnavailable) as caught:
                await call(provider, sandbox)
            assert caught.value.fields["capability"] == capability
            assert "/docs/concepts/sandboxes/" in caught.value.hint
    assert (await sandbox.run(Command("eff_1", 1, "echo alive"))).output == "alive\n"


@pytest.mark.needs("preview")
async def test_a_port_inside_is_reached_and_one_where_nothing_listens_is_not_found(sandbox: Sandbox) -> None:
    with pytest.raises(NotFound):
        await sandbox.dial(4000)
    await sandbox.write_files([("serve.py", SERVE.encode())])
    begun = anyio.Event()

    async def serve() -> None:
        await sandbox.run(Command("eff_1", 1, "exec python3 serve.py"), lambda _text: begun.set())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve)
        await begun.wait()
        for word in (b"one", b"two"):
            assert await ask(await sandbox.dial(4000), word) == word.upper()
        await sandbox.kill_command("eff_1")


@pytest.mark.needs("interactive")
async def test_a_process_is_talked_to(sandbox: Sandbox) -> None:
    started = await sandbox.processes.start(ProcessSpec(("sh", "-c", "read word; echo got $word; exit 3")))
    async with sandbox.processes.follow(started.pid) as outputs:
        await sandbox.processes.write(started.pid, b"hello\n")
        said = [output async for output in outputs]
    assert said[-1] == ProcessEnd(3)
    assert b"".join(o.data for o in said if not isinstance(o, ProcessEnd)) == b"got hello\n"


@pytest.mark.needs("interactive")
async def test_files_anywhere_are_read_and_listed(sandbox: Sandbox) -> None:
    await sandbox.write_files([("a/b.txt", b"text")])
    facts = await sandbox.files.stat("/workspace/a/b.txt")
    assert (facts.kind, facts.size) == ("file", 4)
    assert b"".join([part async for part in sandbox.files.read("/workspace/a/b.txt")]) == b"text"
    assert [entry.path.rpartition("/")[2] for entry in await sandbox.files.list("/workspace/a")] == ["b.txt"]


@pytest.mark.needs("egress")
async def test_what_leaves_arrives_at_the_listener(provider: SandboxProvider, spec: SandboxSpec) -> None:
    open_spec = SandboxSpec(spec.sandbox_id, spec.workspace_dir, spec.limits, egress=True)
    sandbox = await provider.create(open_spec)
    say = "import socket; socket.create_connection(('127.0.0.1', 3128)).sendall(b'out')"
    with await sandbox.egress_listener() as listener:
        assert (await sandbox.run(Command("eff_1", 1, f'python3 -c "{say}"'))).exit_code == 0
        await anyio.wait_readable(listener)
        inner, _ = listener.accept()
        with inner:
            inner.settimeout(10)
            assert inner.recv(10) == b"out"
    await sandbox.aclose()


@pytest.mark.needs("reattach")
async def test_a_command_lives_on_without_a_connection(provider: SandboxProvider, sandbox: Sandbox) -> None:
    begun = anyio.Event()
    script = "echo begun; sleep 0.5; echo ended"
    async with anyio.create_task_group() as tasks:

        async def follow() -> None:
            await sandbox.run(Command("eff_1", 1, script), lambda _text: begun.set())

        tasks.start_soon(follow)
        await begun.wait()
        tasks.cancel_scope.cancel()
    await sandbox.aclose()
    again = await provider.connect(sandbox.sandbox_id, sandbox.ref)
    assert (await again.run(Command("eff_1", 2, script))).output == "begun\nended\n"


async def ask(sock: socket.socket, text: bytes) -> bytes:
    async with await anyio.abc.SocketStream.from_socket(sock) as stream:
        await stream.send(text)
        return b"".join([part async for part in stream])

"""Ports of a real sandbox, its way out, and the authority it trusts."""

from __future__ import annotations

import dataclasses
import os
import select
import socket
import ssl
import subprocess
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import anyio
import anyio.abc
import anyio.to_thread
import pytest

from outlast_sandbox.errors import ArgumentsInvalid, MalformedInput, NotFound, SandboxLost, SandboxUnavailable
from outlast_sandbox.interface import Command, SandboxSpec
from outlast_sandbox.providers.local.cgroups import Group
from outlast_sandbox.providers.local.inside import ports
from outlast_sandbox.providers.local.inside.effects import Refused
from outlast_sandbox.providers.local.inside.frames import encode
from outlast_sandbox.providers.local.inside.loop import Timer
from outlast_sandbox.providers.local.provider import LocalProvider
from outlast_sandbox.providers.local.sandbox import LocalSandbox, State

pytestmark = pytest.mark.sandbox
SERVER = """
import socket, sys
family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
listener = socket.create_server((sys.argv[1], 4000), family=family)
open("up", "w").close()
while True:
    connection, _ = listener.accept()
    connection.sendall(connection.recv(100).upper())
    connection.close()
"""


async def run(box: LocalSandbox, script: str, effect: str = "eff_1") -> str:
    return (await box.run(Command(effect, 1, script, timeout_s=60))).output.strip()


async def serve(box: LocalSandbox, address: str) -> None:
    """Start a server inside that answers in capitals, and wait until it listens."""
    await box.write_files([("server.py", SERVER.encode())])
    script = f"python3 server.py {address} & until [ -e up ]; do sleep 0.02; done"
    assert (await box.run(Command("eff_serve", 1, script))).exit_code == 0


async def ask(sock: socket.socket, text: bytes) -> bytes:
    """Say it, and read to the end."""
    stream = await anyio.abc.SocketStream.from_socket(sock)
    async with stream:
        await stream.send(text)
        return b"".join([part async for part in stream])


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
async def test_a_server_inside_is_reached_through_a_passed_socket(box: LocalSandbox, address: str) -> None:
    await serve(box, address)
    sock = await box.dial(4000)
    assert not sock.getblocking()
    assert not os.get_inheritable(sock.fileno())
    assert await ask(sock, b"hello") == b"HELLO"


async def test_dialling_a_port_where_nothing_listens_is_answered_not_found(box: LocalSandbox) -> None:
    with pytest.raises(NotFound, match="nothing listens on port 4001"):
        await box.dial(4001)
    for port in (0, -1, 65536):
        with pytest.raises(ArgumentsInvalid):
            await box.dial(port)


class HandLoop:
    """The agent's loop, turned by hand: the real one would take over this process's signals."""

    def __init__(self) -> None:
        self.handlers: dict[int, Callable[[int], None]] = {}

    def after(self, _seconds: float, call: Callable[[], None]) -> Timer:
        return Timer(0, call)

    def add(self, fd: int, _events: int, handler: Callable[[int], None]) -> None:
        self.handlers[fd] = handler

    def remove(self, fd: int) -> None:
        self.handlers.pop(fd, None)

    def turn(self) -> None:
        _, ready, _ = select.select([], list(self.handlers), [], 10)
        for fd in ready:
            self.handlers[fd](0)


def test_on_a_machine_without_ipv6_a_closed_port_is_answered_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "LOOPBACK", ((socket.AF_INET, "127.0.0.1"), (999, "no such family")))
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    answers: list[Refused | None] = []
    loop: Any = HandLoop()
    ports.Dial(loop, port, lambda _sock, error: answers.append(error)).start(Mock())
    loop.turn()
    assert [error and error.code for error in answers] == ["not_found"]
    assert loop.handlers == {}


async def test_many_may_dial_at_once_while_commands_run(box: LocalSandbox) -> None:
    await serve(box, "127.0.0.1")
    answers: list[bytes] = []

    async def visit(number: int) -> None:
        answers.append(await ask(await box.dial(4000), b"v%d" % number))

    async with anyio.create_task_group() as tasks:
        for number in range(100):
            tasks.start_soon(visit, number)
        tasks.start_soon(run, box, "echo beside", "eff_2")
    assert sorted(answers) == sorted(b"V%d" % number for number in range(100))


async def test_a_dial_that_is_given_up_leaves_no_descriptor(box: LocalSandbox) -> None:
    script = (
        "import socket; s = socket.create_server(('127.0.0.1', 4000), backlog=0);"
        "held = [socket.socket() for _ in range(4)]; [(h.setblocking(False), h.connect_ex(('127.0.0.1', 4000)))"
        " for h in held]; open('up', 'w').close(); input()"
    )
    full = f'mkfifo never; (exec 0<>never; python3 -c "{script}") & until [ -e up ]; do sleep 0.02; done'
    assert (await box.run(Command("eff_full", 1, full))).exit_code == 0
    before = len(os.listdir("/proc/self/fd"))
    with anyio.move_on_after(0.2) as scope:
        await box.dial(4000)
    assert scope.cancelled_caught
    assert len(os.listdir("/proc/self/fd")) <= before
    assert await run(box, "echo alive") == "alive"


async def test_without_egress_there_is_no_listener_and_no_proxy(box: LocalSandbox) -> None:
    with pytest.raises(SandboxUnavailable, match="without egress"):
        await box.egress_listener()
    assert await run(box, "env | grep -ic proxy") == "0"
    with pytest.raises(NotFound):
        await box.dial(3128)


async def test_what_connects_to_the_way_out_is_accepted_by_this_server_and_by_the_next(
    local: LocalProvider, spec: SandboxSpec
) -> None:
    box = await local.create(dataclasses.replace(spec, egress=True))
    proxies = "$HTTP_PROXY $https_proxy $ALL_PROXY $NO_PROXY $NODE_USE_ENV_PROXY"
    address = "http://127.0.0.1:3128"
    assert await run(box, f"echo {proxies}") == f"{address} {address} {address} localhost,127.0.0.1,::1 1"
    for number, server in enumerate((box, await local.connect(box.sandbox_id, box.ref))):
        listener = await server.egress_listener()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(answer_once, listener, f"hello {number}".encode())
            said = await run(box, "curl -s http://example.test/", f"eff_{number}x")
        assert said == f"hello {number}"
        listener.close()


async def answer_once(listener: socket.socket, body: bytes) -> None:
    await anyio.wait_readable(listener)
    connection, _ = listener.accept()
    async with await anyio.abc.SocketStream.from_socket(connection) as stream:
        request = await stream.receive()
        assert request.startswith(b"GET http://example.test/ HTTP/1.1\r\n")
        await stream.send(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body))
        await stream.send(body)


async def test_the_authority_is_trusted_beside_the_systems_own(
    local: LocalProvider, spec: SandboxSpec, tmp_path: Path
) -> None:
    ours = own_authority(tmp_path)
    box = await local.create(dataclasses.replace(spec, authority_pem=ours))
    system = (await run(box, "cat /etc/ssl/certs/ca-certificates.crt", "eff_cat"))[-len(ours.strip()) :]
    assert system == ours.strip()
    count = "python3 -c 'import ssl; print(len(ssl.create_default_context().get_ca_certs()))'"
    plain = await local.create(dataclasses.replace(spec, sandbox_id=spec.sandbox_id + "plain"))
    known = int(await run(plain, count))
    assert int(await run(box, count)) == known + 1
    assert int(await run(box, f"env -u SSL_CERT_FILE {count}", "eff_2")) == known + 1
    assert await run(box, 'cat "$DENO_CERT" "$NODE_EXTRA_CA_CERTS"', "eff_3") == ours.strip() + "\n" + ours.strip()
    named = await run(box, "echo $SSL_CERT_FILE $REQUESTS_CA_BUNDLE $CURL_CA_BUNDLE $GIT_SSL_CAINFO $PIP_CERT", "eff_4")
    assert named == " ".join(["/etc/ssl/certs/ca-certificates.crt"] * 5)
    assert "denied" in await run(box, "echo x >> /etc/ssl/certs/ca-certificates.crt", "eff_5")


def own_authority(folder: Path) -> str:
    """A certificate authority of the test's own."""
    words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    words += ["-keyout", str(folder / "key.pem"), "-out", str(folder / "ca.pem"), "-subj", "/CN=Test authority"]
    subprocess.run([*words, "-addext", "basicConstraints=critical,CA:TRUE"], check=True, capture_output=True)
    ssl.create_default_context(cafile=str(folder / "ca.pem"))
    return (folder / "ca.pem").read_text()


class HostilePeer:
    """Stands where the shim and the agent stand, and answers every request with descriptors of its own choice."""

    def __init__(self, folder: Path) -> None:
        self.state = State("sbx_hostile", os.getpid(), 0, Group(()))
        self.folder = folder
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(folder / "socket"))
        self.listener.listen()
        self.box = LocalSandbox(self.state, folder)

    def answer(self, fds: Sequence[int]) -> None:
        connection, _ = self.listener.accept()
        with connection:
            connection.recv(1)
            connection.sendall(b"A")
            connection.recv(1 << 16)
            frame = encode({"ok": True})
            socket.send_fds(connection, [frame[:3]], list(fds))
            connection.sendall(frame[3:])
            connection.recv(1)

    async def __call__(self, call: Callable[[LocalSandbox], Awaitable[object]], fds: Sequence[int]) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(anyio.to_thread.run_sync, self.answer, fds)
            try:
                await call(self.box)
            finally:
                await self.box.aclose()


@pytest.fixture
def hostile() -> Iterator[HostilePeer]:
    with tempfile.TemporaryDirectory() as folder:
        peer = HostilePeer(Path(folder))
        yield peer
        peer.listener.close()


@contextmanager
def connected(port_of: str = "127.0.0.1") -> Iterator[tuple[socket.socket, int]]:
    """A connected TCP socket on this machine's loopback, and the port it is connected to."""
    with socket.create_server((port_of, 0)) as listener:
        port = listener.getsockname()[1]
        with socket.create_connection((port_of, port)) as sock:
            yield sock, port


def smuggled(kind: str, stack: ExitStack) -> list[int]:
    """Descriptors that must not get in."""
    if kind == "a file":
        return [stack.enter_context(open("/etc/passwd")).fileno()]
    if kind == "a pipe":
        pipe = os.pipe()
        for fd in pipe:
            stack.callback(os.close, fd)
        return [pipe[0]]
    if kind == "an unconnected TCP socket":
        return [stack.enter_context(socket.socket()).fileno()]
    if kind == "a UDP socket":
        sock = stack.enter_context(socket.socket(type=socket.SOCK_DGRAM))
        sock.connect(("127.0.0.1", 4000))
        return [sock.fileno()]
    if kind == "a Unix socket":
        pair = socket.socketpair()
        for sock in pair:
            stack.enter_context(sock)
        return [pair[0].fileno()]
    sock, _ = stack.enter_context(connected())
    if kind == "two sockets":
        return [sock.fileno(), sock.fileno()]
    if kind == "far too many":
        return [sock.fileno()] * 200
    return [sock.fileno()] if kind == "a socket to another port" else []


@pytest.mark.parametrize(
    "kind",
    [
        "nothing",
        "a file",
        "a pipe",
        "an unconnected TCP socket",
        "a UDP socket",
        "a Unix socket",
        "a socket to another port",
        "two sockets",
        "far too many",
    ],
)
async def test_a_descriptor_other_than_the_one_asked_for_is_refused_and_closed(hostile: HostilePeer, kind: str) -> None:
    for call in (lambda box: box.dial(1), lambda box: box.egress_listener()):
        with ExitStack() as stack:
            fds = smuggled(kind, stack)
            before = _described()
            with pytest.raises(ExceptionGroup) as raised:
                await hostile(call, fds)
            assert raised.group_contains((MalformedInput, NotFound))
            assert _opened_since(before) == []


def _opened_since(before: list[str]) -> list[str]:
    """What is open now and was not before. What an earlier test left behind may have been closed meanwhile."""
    return sorted((Counter(_described()) - Counter(before)).elements())


def _described() -> list[str]:
    """What this process has open, without what the threads of the test itself open and close."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        try:
            found.append(os.readlink(f"/proc/self/fd/{name}"))
        except OSError:
            continue
    return sorted(name for name in found if name.startswith(("socket", "pipe", "/etc")))


async def test_the_right_descriptor_passes_the_same_checks(hostile: HostilePeer) -> None:
    with connected() as (sock, port):
        taken: list[socket.socket] = []

        async def call(box: LocalSandbox) -> None:
            taken.append(await box.dial(port))

        await hostile(call, [sock.fileno()])
        assert taken[0].getpeername() == sock.getpeername()
        taken[0].close()


async def test_a_server_that_hung_up_right_after_it_was_dialled_is_answered_not_found(hostile: HostilePeer) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        sock = socket.create_connection(("127.0.0.1", port))
    # Closed with the connection unaccepted: it is reset.
    with sock:
        before = _described()
        with pytest.raises(ExceptionGroup) as raised:
            await hostile(lambda box: box.dial(port), [sock.fileno()])
        assert raised.group_contains(NotFound, match=f"port {port} closed the connection")
        assert _opened_since(before) == []


async def test_descriptors_that_come_unasked_with_another_answer_are_dropped(hostile: HostilePeer) -> None:
    with connected() as (sock, _):
        before = _described()
        await hostile(lambda box: box.acknowledge("eff_1"), [sock.fileno()])
        assert _opened_since(before) == []


async def test_dialling_a_sandbox_that_is_gone_says_that_it_is_lost(box: LocalSandbox) -> None:
    await box.kill()
    with pytest.raises(SandboxLost):
        await box.dial(4000)
    with pytest.raises(SandboxLost):
        await box.egress_listener()

"""What only E2B shows: its key, sleep in the middle of a command, an agent that is gone, a start that fails."""

from __future__ import annotations

import asyncio
import gc
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from e2b.exceptions import SandboxException

from outlast_sandbox.errors import SandboxLost, SandboxUnavailable
from outlast_sandbox.interface import Command, SandboxSpec
from outlast_sandbox.providers.e2b import provider as module
from outlast_sandbox.providers.e2b.provider import E2bProvider, open_provider
from outlast_sandbox.providers.e2b.sandbox import E2bSandbox
from outlast_sandbox.providers.e2b.service import call_sdk, shell
from outlast_sandbox.providers.setup import ProviderSetup
from tests.sandbox.e2b_service import E2bService

pytestmark = pytest.mark.sandbox
Another = Callable[..., E2bProvider]
SERVE = """
import socket
listener = socket.create_server(("127.0.0.1", 4000))
print("listening", flush=True)
for _ in range(2):
    connection, _ = listener.accept()
    data = b"".join(iter(lambda: connection.recv(100), b""))
    connection.sendall(b"heard " + data)
    connection.close()
    print("heard", len(data), flush=True)
"""
LOOK = """
import glob
def words(path):
    try:
        return open(path, "rb").read().split(bytes(1))
    except OSError:
        return ()
relays = [words(path) for path in glob.glob("/proc/[0-9]*/cmdline") if b"outlast-" b"relay" in words(path)]
print(len(relays), sum("{nonce}".encode() in words for words in relays))
"""


@pytest.fixture
def another(e2b: E2bProvider, e2b_service: E2bService, tmp_path: Path) -> Another:
    """A provider as a restarted server would open it."""

    def make(*, key: str | None = e2b_service.key, url: str = "") -> E2bProvider:
        options = {"api_url": f"{url}/e2b"} if url else e2b_service.options
        keys = {"E2B_API_KEY": key} if key else {}
        return open_provider(
            ProviderSetup(
                state_dir=tmp_path, cache_dir=tmp_path, owner=e2b._setup.owner, options=options, secret=keys.get
            )
        )

    return make


@pytest.fixture
async def remote(e2b: E2bProvider, spec: SandboxSpec) -> AsyncIterator[E2bSandbox]:
    sandbox = await e2b.create(spec)
    yield sandbox
    await sandbox.aclose()


async def test_without_a_key_the_fix_is_said(another: Another, spec: SandboxSpec) -> None:
    provider = another(key=None)
    report = await provider.probe()
    assert not report.ok
    assert report.fixes == ("export E2B_API_KEY=...",)
    with pytest.raises(SandboxUnavailable, match="E2B_API_KEY is not set"):
        await provider.create(spec)


async def test_a_key_that_is_not_accepted_is_said_and_not_told(another: Another) -> None:
    report = await another(key="tok_wrong_key").probe()
    assert not report.ok
    assert "does not accept the key" in report.details[0]
    assert "tok_wrong_key" not in str(report)


async def test_a_service_out_of_reach_is_said(another: Another) -> None:
    report = await another(url="http://127.0.0.1:9").probe()
    assert not report.ok
    assert "cannot be reached" in report.details[0]


async def test_a_restarted_server_goes_on_with_the_command(remote: E2bSandbox, another: Another) -> None:
    begun = anyio.Event()
    script = "echo begun; sleep 0.5; echo ended >> runs.txt; cat runs.txt"
    async with anyio.create_task_group() as tasks:

        async def follow() -> None:
            await remote.run(Command("eff_1", 1, script), lambda _text: begun.set())

        tasks.start_soon(follow)
        await begun.wait()
        tasks.cancel_scope.cancel()
    restarted = another()
    (found,) = await restarted.list_refs()
    again = await restarted.connect(*found)
    assert (await again.run(Command("eff_1", 2, script))).output == "begun\nended\n"
    await again.aclose()


async def test_relays_that_another_server_left_are_ended(remote: E2bSandbox, another: Another) -> None:
    await remote.run(Command("eff_1", 1, "true"))  # leaves a relay that is kept for the next call
    again = await another().connect(remote.sandbox_id, remote.ref)
    look = LOOK.format(nonce=remote._nonce)
    assert (await again.run(Command("eff_2", 1, f"python3 -c '{look}'"))).output == "1 0\n"
    await again.aclose()


async def test_a_command_that_sleeps_with_its_sandbox_is_heard_once_and_to_its_end(remote: E2bSandbox) -> None:
    heard: list[str] = []
    begun = anyio.Event()
    results = []

    def listen(text: str) -> None:
        heard.append(text)
        begun.set()

    async def run() -> None:
        results.append(await remote.run(Command("eff_1", 1, "echo begun; sleep 1; echo ended"), listen))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        await begun.wait()
        await remote.freeze()
        await remote.thaw()
    assert results[0].output == "begun\nended\n"
    assert "".join(heard) == "begun\nended\n"


async def test_one_that_the_service_put_to_sleep_by_itself_is_woken_by_its_next_use(
    remote: E2bSandbox, e2b: E2bProvider
) -> None:
    await remote.run(Command("eff_1", 1, "echo kept > a"))
    await e2b._service().pause(remote.ref)  # as after its time-out
    measured = await remote.statistics()
    assert measured is not None
    assert measured.processes > 0
    await e2b._service().pause(remote.ref)
    assert await remote.read_file("a", 10) == b"kept\n"
    await e2b._service().pause(remote.ref)
    assert (await remote.run(Command("eff_2", 1, "cat a"))).output == "kept\n"


async def test_one_that_sleeps_is_found_asleep_and_woken_by_thaw_only(remote: E2bSandbox, another: Another) -> None:
    await remote.write_files([("kept.txt", b"kept")])
    await remote.freeze()
    again = await another().connect(remote.sandbox_id, remote.ref)
    assert again.sleeps
    await again.thaw()
    assert await again.read_file("kept.txt", 10) == b"kept"
    await again.aclose()


async def test_a_sandbox_whose_agent_is_gone_is_lost_and_removed(remote: E2bSandbox, another: Another) -> None:
    kill = "kill -9 $(grep -l inside.hosted /proc/[0-9]*/cmdline 2>/dev/null | cut -d/ -f3)"
    with pytest.raises(SandboxLost):
        await remote.run(Command("eff_1", 1, kill))
    provider = another()
    with pytest.raises(SandboxLost):
        await provider.connect(remote.sandbox_id, remote.ref)
    assert await provider.list_refs() == []


async def test_a_sandbox_of_another_server_is_not_ours(remote: E2bSandbox, another: Another) -> None:
    with pytest.raises(SandboxLost):
        await another().connect("sbx_somebody_elses", remote.ref)


async def test_an_agent_that_does_not_start_is_said_and_leaves_nothing(
    e2b: E2bProvider, spec: SandboxSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "start_command", lambda *_words: "echo no such python >&2; exit 127")
    with pytest.raises(SandboxUnavailable, match="no such python") as caught:
        await e2b.create(spec)
    assert "sandbox.options.template" in caught.value.hint
    assert await e2b.list_refs() == []


@asynccontextmanager
async def forgotten_tasks() -> AsyncIterator[list[str]]:
    """What the loop hears of tasks that failed and that nobody awaits: the SDK leaves one for a cancelled stream."""
    heard: list[str] = []
    loop = asyncio.get_running_loop()
    before = loop.get_exception_handler()
    loop.set_exception_handler(lambda _loop, context: heard.append(str(context.get("exception"))))
    try:
        yield heard
    finally:
        gc.collect()
        loop.set_exception_handler(before)


async def test_a_cancelled_start_leaves_nothing(
    e2b: E2bProvider, spec: SandboxSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with forgotten_tasks() as forgotten, anyio.create_task_group() as tasks:

        async def cancelling(*words: Any) -> str:
            tasks.cancel_scope.cancel()
            return await shell(*words)

        monkeypatch.setattr(module, "shell", cancelling)
        await e2b.create(spec)
    assert tasks.cancel_scope.cancelled_caught
    assert await e2b.list_refs() == []
    assert set(forgotten) <= {"Request was cancelled"}


async def test_a_cancellation_stays_one_where_the_sdk_makes_an_error_of_it() -> None:
    async def turned() -> None:
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            raise SandboxException("Request was cancelled") from None

    with anyio.move_on_after(0.01) as scope:
        await call_sdk("", turned)
    assert scope.cancelled_caught


async def test_a_dialled_port_hears_the_end_and_its_relay_ends_with_it(remote: E2bSandbox) -> None:
    await remote.write_files([("serve.py", SERVE.encode())])
    begun = anyio.Event()
    results = []

    async def serve() -> None:
        command = Command("eff_1", 1, "exec python3 serve.py", timeout_s=60)
        results.append(await remote.run(command, lambda _text: begun.set()))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve)
        await begun.wait()
        async with await anyio.abc.SocketStream.from_socket(await remote.dial(4000)) as stream:
            await stream.send(b"all there is")
            await stream.send_eof()
            assert b"".join([part async for part in stream]) == b"heard all there is"
        (await remote.dial(4000)).close()
    assert results[0].output == "listening\nheard 12\nheard 0\n"
    with anyio.fail_after(30):
        while remote._splices._running:
            await anyio.lowlevel.checkpoint()


async def test_much_is_written_and_read_whole(remote: E2bSandbox) -> None:
    data = os.urandom(3_000_000)
    await remote.write_files([("big.bin", data)])
    assert await remote.read_file("big.bin", 10_000_000) == data

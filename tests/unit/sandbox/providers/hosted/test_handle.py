"""A hosted sandbox through broken connections: asked again while it lives, given up when it does not."""

from __future__ import annotations

import anyio
import pytest
from anyio.abc import ByteStream

from outlast_sandbox.errors import SandboxLost
from outlast_sandbox.providers.hosted.handle import MAX_BREAKS, HostedSandbox, _OutputOnce


class Unsteady(HostedSandbox):
    """Its connections all fail; `lives` says whether it is still there."""

    def __init__(self, *, lives: bool = True, asleep: bool = False) -> None:
        super().__init__("sbx_1", "ref", asleep=asleep)
        self.lives = lives
        self.opened = 0

    async def open_stream(self) -> ByteStream:
        self.opened += 1
        raise OSError("broken")

    async def is_there(self) -> bool:
        return self.lives

    async def extend(self) -> None:
        return None

    async def freeze(self) -> None:
        await self.fall_asleep()

    async def thaw(self) -> None:
        self.wake_up()

    async def kill(self) -> None:
        self.killed = True


async def test_one_that_is_gone_is_lost_at_once() -> None:
    sandbox = Unsteady(lives=False)
    with pytest.raises(SandboxLost):
        await sandbox.read_file("a", 1)
    assert sandbox.opened == 1


async def test_one_that_lives_but_is_never_reached_is_given_up() -> None:
    sandbox = Unsteady()
    with pytest.raises(SandboxLost):
        await sandbox.list_files()
    assert sandbox.opened == MAX_BREAKS + 1


async def test_one_that_was_killed_here_is_not_looked_for() -> None:
    sandbox = Unsteady()
    await sandbox.kill()
    with pytest.raises(SandboxLost):
        await sandbox.acknowledge("eff_1")
    assert sandbox.opened == 1


async def test_calls_wait_while_it_sleeps() -> None:
    sandbox = Unsteady(asleep=True, lives=False)

    async def call() -> None:
        with pytest.raises(SandboxLost):
            await sandbox.read_file("a", 1)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(call)
        await anyio.wait_all_tasks_blocked()
        assert sandbox.opened == 0
        await sandbox.thaw()
    assert sandbox.opened == 1


async def test_measuring_one_that_sleeps_does_not_wait() -> None:
    sandbox = Unsteady(asleep=True)
    assert await sandbox.statistics() is None
    assert sandbox.opened == 0


async def test_delivered_output_is_not_delivered_again_however_it_is_cut_the_second_time() -> None:
    delivered: list[str] = []
    output = _OutputOnce(delivered.append)
    for pieces in (["one ", "tw"], ["o", "ne two", " three"], ["one two three", " four"]):
        deliver = output.listener()
        assert deliver is not None
        for piece in pieces:
            waiting = deliver(piece)
            assert waiting is not None
            await waiting
    assert "".join(delivered) == "one two three four"

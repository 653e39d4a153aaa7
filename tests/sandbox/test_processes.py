"""Processes that one talks to, in real sandboxes."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from outlast_sandbox.errors import ArgumentsInvalid, Conflict, MalformedInput, NotFound, SandboxLost
from outlast_sandbox.interactive import ProcessEnd, ProcessOutput, ProcessSpec, TerminalSize
from outlast_sandbox.interface import Command, SandboxSpec
from outlast_sandbox.providers.local.provider import LocalProvider
from outlast_sandbox.providers.local.sandbox import LocalSandbox
from tests.sandbox.conftest import state_of

pytestmark = pytest.mark.sandbox

DEADLINE_S = 60
Outputs = AsyncIterator[ProcessOutput | ProcessEnd]


def shell(script: str, *, terminal: TerminalSize | None = None, stdin: bool = True) -> ProcessSpec:
    return ProcessSpec(("sh", "-c", script), terminal=terminal, stdin=stdin)


async def read_all(outputs: Outputs) -> tuple[dict[str, bytes], ProcessEnd]:
    """Everything by stream, and the end."""
    streams: dict[str, bytes] = {}
    with anyio.fail_after(DEADLINE_S):
        async for output in outputs:
            if isinstance(output, ProcessEnd):
                return streams, output
            streams[output.stream] = streams.get(output.stream, b"") + output.data
    raise AssertionError("no end came")


async def read_until(outputs: Outputs, wanted: bytes) -> bytes:
    """What comes up to and with `wanted`."""
    seen = b""
    with anyio.fail_after(DEADLINE_S):
        async for output in outputs:
            assert isinstance(output, ProcessOutput), f"it ended: {output}, after {seen!r}"
            seen += output.data
            if wanted in seen:
                return seen
    raise AssertionError(f"{wanted!r} never came")


async def run(box: LocalSandbox, spec: ProcessSpec) -> tuple[dict[str, bytes], ProcessEnd]:
    process = await box.processes.start(spec)
    async with box.processes.follow(process.pid) as outputs:
        return await read_all(outputs)


async def test_stdout_and_stderr_come_apart_and_the_exit_code_last(box: LocalSandbox) -> None:
    streams, end = await run(box, shell("echo out; echo err >&2; exit 7"))
    assert streams == {"stdout": b"out\n", "stderr": b"err\n"}
    assert end == ProcessEnd(7, None)


async def test_it_has_the_environment_of_the_sandbox_and_its_own(box: LocalSandbox) -> None:
    spec = replace(shell('echo "$GREETING $OWN $HOME $PWD"'), env={"OWN": "mine"}, cwd="/tmp")
    streams, _ = await run(box, spec)
    assert streams["stdout"] == b"hello mine /home/user /tmp\n"
    streams, _ = await run(box, ProcessSpec(("printenv", "PWD"), cwd=".."))
    assert streams["stdout"] == b"/\n"
    streams, _ = await run(box, shell("pwd"))
    assert streams["stdout"] == b"/workspace\n"


async def test_what_is_written_to_stdin_is_read_and_closing_it_is_its_end(box: LocalSandbox) -> None:
    process = await box.processes.start(ProcessSpec(("cat",)))
    async with box.processes.follow(process.pid) as outputs:
        await box.processes.write(process.pid, b"first ")
        assert await read_until(outputs, b"first ") == b"first "
        await box.processes.write(process.pid, b"second")
        await box.processes.close_stdin(process.pid)
        await box.processes.close_stdin(process.pid)
        streams, end = await read_all(outputs)
    assert (streams, end) == ({"stdout": b"second"}, ProcessEnd(0))


async def test_writing_after_the_close_is_a_conflict(box: LocalSandbox) -> None:
    process = await box.processes.start(shell("cat; sleep 1000"))
    await box.processes.close_stdin(process.pid)
    with pytest.raises(Conflict):
        await box.processes.write(process.pid, b"late")


async def test_without_stdin_it_reads_nothing_and_cannot_be_written_to(box: LocalSandbox) -> None:
    process = await box.processes.start(shell("cat; echo done; sleep 1000", stdin=False))
    async with box.processes.follow(process.pid) as outputs:
        assert await read_until(outputs, b"done\n") == b"done\n"
    with pytest.raises(Conflict):
        await box.processes.write(process.pid, b"text")


async def test_writing_waits_while_nobody_reads_and_a_cancelled_write_does_no_harm(box: LocalSandbox) -> None:
    process = await box.processes.start(shell("until [ -e go ]; do sleep 0.01; done; wc -c"))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(box.processes.write, process.pid, b"x" * 300_000)
        await anyio.wait_all_tasks_blocked()
        with anyio.move_on_after(0.05) as scope:
            await box.processes.write(process.pid, b"y" * 300_000)
        assert scope.cancelled_caught
        await box.write_files([("go", b"")])
    await box.processes.close_stdin(process.pid)
    async with box.processes.follow(process.pid) as outputs:
        streams, _ = await read_all(outputs)
    assert int(streams["stdout"]) == 300_000


async def test_a_terminal_is_one_with_a_size_that_can_change(box: LocalSandbox) -> None:
    script = "test -t 0 && test -t 1 && test -t 2 && echo terminal $TERM; stty size; read line; stty size; tty"
    process = await box.processes.start(shell(script, terminal=TerminalSize(100, 30)))
    async with box.processes.follow(process.pid) as outputs:
        assert b"terminal xterm-256color\r\n30 100\r\n" in await read_until(outputs, b"30 100\r\n")
        await box.processes.resize(process.pid, TerminalSize(132, 50))
        await box.processes.write(process.pid, b"\n")
        streams, end = await read_all(outputs)
    assert b"50 132\r\n" in streams["terminal"]
    assert b"/dev/pts/" in streams["terminal"]
    assert end == ProcessEnd(0)


async def test_keys_at_a_terminal_are_signals_and_the_end_of_input(box: LocalSandbox) -> None:
    size = TerminalSize()
    process = await box.processes.start(shell("trap 'echo caught' INT; echo up; read x; cat", terminal=size))
    async with box.processes.follow(process.pid) as outputs:
        await read_until(outputs, b"up\r\n")
        await box.processes.write(process.pid, b"\x03")
        await read_until(outputs, b"caught\r\n")
        with pytest.raises(Conflict):
            await box.processes.close_stdin(process.pid)
        await box.processes.write(process.pid, b"\x04\x04")
        _, end = await read_all(outputs)
    assert end.signal is None


async def test_a_shell_at_a_terminal_has_job_control(box: LocalSandbox) -> None:
    process = await box.processes.start(ProcessSpec(("bash", "-i"), terminal=TerminalSize()))
    async with box.processes.follow(process.pid) as outputs:
        await box.processes.write(process.pid, b"sh -c 'echo u\"\"p; exec sleep 1000'\n")
        await read_until(outputs, b"up\r\n")
        await box.processes.write(process.pid, b"\x1a")
        seen = await read_until(outputs, b"Stopped")
        assert b"no job control" not in seen
        await box.processes.signal(process.pid, signal.SIGKILL, group=True)
        _, end = await read_all(outputs)
    assert end == ProcessEnd(137, 9)


async def test_a_signal_ends_it_and_is_told(box: LocalSandbox) -> None:
    process = await box.processes.start(ProcessSpec(("sleep", "1000")))
    await box.processes.signal(process.pid, signal.SIGTERM)
    async with box.processes.follow(process.pid) as outputs:
        assert await read_all(outputs) == ({}, ProcessEnd(143, 15))
    with pytest.raises(NotFound):
        await box.processes.signal(process.pid, signal.SIGTERM)


async def test_an_exit_code_like_that_of_a_signal_is_no_signal(box: LocalSandbox) -> None:
    assert (await run(box, shell("exit 137")))[1] == ProcessEnd(137, None)


async def test_a_signal_to_the_group_reaches_all_it_started(box: LocalSandbox) -> None:
    script = "(setsid sleep 1000 &); sleep 1000 & echo up; wait"
    for number in (signal.SIGTERM, signal.SIGKILL):
        process = await box.processes.start(shell(script))
        async with box.processes.follow(process.pid) as outputs:
            await read_until(outputs, b"up\n")
            await box.processes.signal(process.pid, number, group=True)
            assert (await read_all(outputs))[1].signal == number
    left = await box.run(
        Command("eff_1", 1, "for i in $(seq 500); do pgrep -x sleep || break; sleep 0.01; done; pgrep -xc sleep")
    )
    assert left.output.endswith("0\n")


async def test_the_running_are_listed_with_what_they_were_started_with(box: LocalSandbox) -> None:
    spec = ProcessSpec(("cat",), "/tmp", {"A": "b"}, TerminalSize(90, 20), stdin=True, tag="mine")
    process = await box.processes.start(spec)
    assert await box.processes.list() == [process]
    assert process.spec == spec
    await box.processes.signal(process.pid, signal.SIGKILL)
    async with box.processes.follow(process.pid) as outputs:
        await read_all(outputs)
    assert await box.processes.list() == []


async def test_several_followers_see_the_same_each_from_when_it_came(box: LocalSandbox) -> None:
    process = await box.processes.start(ProcessSpec(("cat",)))
    async with box.processes.follow(process.pid) as first:
        await box.processes.write(process.pid, b"one ")
        await read_until(first, b"one ")
        await box.processes.write(process.pid, b"two ")
        await read_until(first, b"two ")
        # Asking for more is what confirms the rest as read.
        async with anyio.create_task_group() as tasks:
            seen: list[bytes] = []

            async def read_on() -> None:
                seen.append((await read_all(first))[0]["stdout"])

            tasks.start_soon(read_on)
            await anyio.wait_all_tasks_blocked()
            await box.processes.list()
            async with box.processes.follow(process.pid) as second:
                await box.processes.write(process.pid, b"three")
                await box.processes.close_stdin(process.pid)
                streams, end = await read_all(second)
    assert (streams["stdout"], seen, end.exit_code) == (b"three", [b"three"], 0)


async def test_a_follower_that_comes_back_gets_what_it_missed_and_nothing_twice(box: LocalSandbox) -> None:
    process = await box.processes.start(shell("echo before; read x; echo while away; read x; echo after"))
    async with box.processes.follow(process.pid) as outputs:
        assert await read_until(outputs, b"before\n") == b"before\n"
    await box.processes.write(process.pid, b"\n\n")
    async with box.processes.follow(process.pid) as outputs:
        streams, end = await read_all(outputs)
    assert (streams, end) == ({"stdout": b"while away\nafter\n"}, ProcessEnd(0))
    with pytest.raises(NotFound):
        async with box.processes.follow(process.pid):
            pass


async def test_what_was_read_but_not_handed_over_is_for_the_next_follower(box: LocalSandbox) -> None:
    process = await box.processes.start(shell("echo out; echo err >&2; echo out2; read x"))
    async with box.processes.follow(process.pid) as outputs:
        first = await anext(outputs)
    assert isinstance(first, ProcessOutput)
    await box.processes.write(process.pid, b"\n")
    async with box.processes.follow(process.pid) as outputs:
        streams, _ = await read_all(outputs)
    seen = {**streams, first.stream: first.data + streams.get(first.stream, b"")}
    assert seen == {"stdout": b"out\nout2\n", "stderr": b"err\n"}


async def test_a_process_outlives_its_follower_the_handle_and_the_server(
    local: LocalProvider, box: LocalSandbox, cache_dir: Path
) -> None:
    process = await box.processes.start(shell("echo begun; read x; echo $x"))
    async with box.processes.follow(process.pid) as outputs:
        await read_until(outputs, b"begun\n")
    await box.aclose()
    again = await LocalProvider(local.state_dir, cache_dir).connect(box.sandbox_id, box.ref)
    assert [running.pid for running in await again.processes.list()] == [process.pid]
    await again.processes.write(process.pid, b"still here\n")
    async with again.processes.follow(process.pid) as outputs:
        assert (await read_all(outputs))[0] == {"stdout": b"still here\n"}


async def test_of_what_nobody_reads_the_last_256_kib_are_kept(box: LocalSandbox) -> None:
    process = await box.processes.start(shell("read x; seq 200000; echo ended > ended.txt; read x"))
    async with box.processes.follow(process.pid):
        pass  # from then on nobody is waited for
    await box.processes.write(process.pid, b"\n")
    await box.run(Command("eff_1", 1, "until [ -s ended.txt ]; do sleep 0.01; done"))
    await box.processes.write(process.pid, b"\n")
    async with box.processes.follow(process.pid) as outputs:
        first = await anext(outputs)
        assert isinstance(first, ProcessOutput)
        streams, _ = await read_all(outputs)
    everything = b"".join(b"%d\n" % number for number in range(1, 200001))
    kept = first.data + streams["stdout"]
    assert everything.endswith(kept)
    assert 200 * 1024 < len(kept) <= 256 * 1024


async def test_who_follows_late_still_gets_all_of_a_huge_output(box: LocalSandbox) -> None:
    process = await box.processes.start(shell("head -c 2000000 /dev/zero"))
    await box.run(Command("eff_1", 1, "sleep 0.2"))
    async with box.processes.follow(process.pid) as outputs:
        streams, end = await read_all(outputs)
    assert (len(streams["stdout"]), end.exit_code) == (2_000_000, 0)


async def test_a_slow_reader_gets_all_of_a_huge_output_and_holds_nobody_else_up(box: LocalSandbox) -> None:
    size = 5_000_000
    process = await box.processes.start(shell(f"head -c {size} /dev/zero; echo end >&2"))
    seen = 0
    async with box.processes.follow(process.pid) as outputs:
        for number in range(3):  # the process waits; everything else goes on
            assert (await box.run(Command(f"eff_{number}", 1, "echo quick"))).output == "quick\n"
            output = await anext(outputs)
            assert isinstance(output, ProcessOutput)
            seen += len(output.data)
        streams, end = await read_all(outputs)
    assert seen + len(streams["stdout"]) == size
    assert (streams["stderr"], end.exit_code) == (b"end\n", 0)


async def test_what_it_leaves_in_the_background_does_not_hold_up_its_end(box: LocalSandbox) -> None:
    script = "(while ! [ -e go ]; do echo noise; sleep 0.001; done; echo done > done.txt) & echo begun"
    streams, end = await run(box, shell(script))
    assert b"begun\n" in streams["stdout"]
    assert end.exit_code == 0
    left = await box.run(Command("eff_1", 1, "touch go; until [ -s done.txt ]; do sleep 0.01; done; cat done.txt"))
    assert left.output == "done\n"


async def test_closed_pipes_do_not_disturb_the_sandbox(box: LocalSandbox) -> None:
    process = await box.processes.start(shell("exec 0<&- 1>&- 2>&-; sleep 1000"))

    async def write_on() -> None:
        while True:
            await box.processes.write(process.pid, b"nobody reads this")

    with anyio.fail_after(DEADLINE_S), pytest.raises(Conflict):
        await write_on()
    await box.processes.signal(process.pid, signal.SIGKILL)
    async with box.processes.follow(process.pid) as outputs:
        assert (await read_all(outputs))[1].signal == signal.SIGKILL


@pytest.mark.parametrize(
    ("program", "error"),
    [
        (ProcessSpec(("no-such-program",)), NotFound),
        (ProcessSpec(("/no/such/program",)), NotFound),
        (ProcessSpec(("true",), cwd="/no/such/folder"), NotFound),
        (ProcessSpec(("/etc/passwd",)), ArgumentsInvalid),
        (ProcessSpec(()), MalformedInput),
        (ProcessSpec(("true",), env={"A=B": "c"}), MalformedInput),
        (ProcessSpec(("true",), env={"A": "\0"}, terminal=TerminalSize()), MalformedInput),
        (ProcessSpec(("true", "x" * 3_000_000)), ArgumentsInvalid),
        (ProcessSpec(("no-such-program",), terminal=TerminalSize()), NotFound),
    ],
    ids=["name", "path", "folder", "not a program", "nothing", "variable", "NUL", "too long", "terminal"],
)
async def test_what_cannot_be_started_is_refused_clearly(
    box: LocalSandbox, program: ProcessSpec, error: type[Exception]
) -> None:
    with pytest.raises(error):
        await box.processes.start(program)
    assert await box.processes.list() == []


async def test_an_unknown_process_is_not_found(box: LocalSandbox) -> None:
    for call in (
        box.processes.write(4711, b"x"),
        box.processes.close_stdin(4711),
        box.processes.resize(4711, TerminalSize()),
        box.processes.signal(4711, 9),
        box.processes.follow(4711).__aenter__(),
    ):
        with pytest.raises(NotFound):
            await call


async def test_at_the_process_limit_room_is_made_for_a_terminal(local: LocalProvider, spec: SandboxSpec) -> None:
    box = await local.create(replace(spec, limits=replace(spec.limits, processes=24)))
    await box.run(Command("eff_1", 1, "for i in $(seq 40); do setsid sleep 1000 & done 2>/dev/null"))
    streams, end = await run(box, shell("echo here"))
    assert streams["stdout"] == b"here\n"
    assert end.exit_code == 0


async def test_a_process_that_fills_the_workspace_is_ended_and_told_why(box: LocalSandbox) -> None:
    script = "for i in 1 2 3; do head -c 40000000 /dev/zero > big$i; done; echo full; sleep 1000"
    streams, end = await run(box, shell(script))
    assert end.signal == signal.SIGKILL
    assert b"the workspace exceeds its disk limit" in streams["stderr"]


async def test_a_frozen_sandbox_answers_when_it_is_thawed(box: LocalSandbox) -> None:
    process = await box.processes.start(ProcessSpec(("cat",)))
    got: list[bytes] = []

    async def follow() -> None:
        async with box.processes.follow(process.pid) as outputs:
            await box.processes.write(process.pid, b"through")
            got.append(await read_until(outputs, b"through"))

    await box.freeze()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(follow)
        await anyio.wait_all_tasks_blocked()
        assert got == []
        await box.thaw()
    assert got == [b"through"]


async def test_a_follower_of_a_killed_sandbox_is_told_that_it_is_lost(box: LocalSandbox) -> None:
    process = await box.processes.start(shell("echo begun; sleep 1000"))
    async with box.processes.follow(process.pid) as outputs:
        await read_until(outputs, b"begun\n")
        await box.kill()
        with pytest.raises(SandboxLost):
            await read_all(outputs)


async def test_nothing_is_left_open_by_processes_files_and_watches_that_have_ended(
    local: LocalProvider, box: LocalSandbox
) -> None:
    group = state_of(local, box.sandbox_id).group

    async def count() -> int:
        await box.processes.list()
        return sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in group.processes())

    async def use_all(terminal: TerminalSize | None) -> None:
        process = await box.processes.start(shell("echo x; cat", terminal=terminal))
        async with box.processes.follow(process.pid) as first, box.processes.follow(process.pid):
            await anext(first)
            await box.processes.write(process.pid, b"text")
        await box.processes.signal(process.pid, signal.SIGKILL)
        async with box.processes.follow(process.pid) as outputs, box.files.watch("/tmp", recursive=True):
            await read_all(outputs)
        with pytest.raises(NotFound):
            await box.processes.start(ProcessSpec(("missing",), terminal=terminal))
        async for _ in box.files.read("/proc/self/status"):
            pass

    try:
        await count()
    except PermissionError:
        pytest.skip("only root may count what the agent has open")
    for _ in range(3):
        await use_all(None)
    before = await count()
    for number in range(10):
        await use_all(TerminalSize() if number % 2 else None)
    with anyio.fail_after(DEADLINE_S):
        while await count() > before + 1:  # each closed connection is noticed in its own time
            await anyio.lowlevel.checkpoint()

"""What every provider must do, the fake included: `needs` names the capabilities that a provider may lack."""

from __future__ import annotations

from dataclasses import replace

import anyio
import pytest

from outlast_sandbox.errors import Conflict, FenceLost, NotFound, PathRefused, SandboxLost
from outlast_sandbox.interface import Command, Evaluation, Sandbox, SandboxProvider, SandboxSpec


async def test_a_command_gives_its_output_and_exit_code(sandbox: Sandbox) -> None:
    result = await sandbox.run(Command("eff_1", 1, "echo one && echo two; exit 3"))
    assert (result.output, result.exit_code) == ("one\ntwo\n", 3)
    assert not result.timed_out
    assert not result.truncated
    assert result.killed_reason is None


async def test_a_command_that_does_not_exist_ends_with_127(sandbox: Sandbox) -> None:
    result = await sandbox.run(Command("eff_1", 1, "no-such-command"))
    assert result.exit_code == 127
    assert "not found" in result.output


async def test_output_comes_while_the_command_still_runs(sandbox: Sandbox) -> None:
    first = anyio.Event()
    async with anyio.create_task_group() as tasks:

        async def follow() -> None:
            await sandbox.run(Command("eff_1", 1, "echo begun; sleep 1000"), lambda _text: first.set())

        tasks.start_soon(follow)
        await first.wait()
        await sandbox.kill_command("eff_1")


async def test_what_the_listener_gets_equals_the_output_in_the_result(sandbox: Sandbox) -> None:
    heard: list[str] = []
    command = Command("eff_1", 1, "seq 20000", output_limit_bytes=4000)
    result = await sandbox.run(command, heard.append)
    assert "".join(heard) == result.output
    assert result.truncated
    assert "left out" in result.output
    assert result.output.startswith("1\n2\n")
    assert result.output.endswith("19999\n20000\n")
    assert len(result.output) < 4200


async def test_a_listener_may_be_asynchronous(sandbox: Sandbox) -> None:
    heard: list[str] = []

    async def listen(text: str) -> None:
        await anyio.lowlevel.checkpoint()
        heard.append(text)

    await sandbox.run(Command("eff_1", 1, "echo hello"), listen)
    assert "".join(heard) == "hello\n"


async def test_a_command_is_ended_at_its_time_limit(sandbox: Sandbox) -> None:
    result = await sandbox.run(Command("eff_1", 1, "echo begun; sleep 1000", timeout_s=0.2))
    assert result.timed_out
    assert result.output == "begun\n"
    assert result.exit_code == 137
    assert result.killed_reason is None


async def test_a_killed_command_ends_at_once_and_says_why(sandbox: Sandbox) -> None:
    begun = anyio.Event()
    async with anyio.create_task_group() as tasks:

        async def kill() -> None:
            await begun.wait()
            await sandbox.kill_command("eff_1", "cancelled")

        tasks.start_soon(kill)
        result = await sandbox.run(Command("eff_1", 1, "echo begun; sleep 1000"), lambda _text: begun.set())
    assert result.killed_reason == "cancelled"
    assert result.exit_code == 137


async def test_killing_what_is_unknown_or_has_ended_is_fine(sandbox: Sandbox) -> None:
    await sandbox.kill_command("eff_unknown")
    await sandbox.run(Command("eff_1", 1, "true"))
    await sandbox.kill_command("eff_1")


async def test_the_same_effect_again_collects_the_kept_result_and_all_output(sandbox: Sandbox) -> None:
    script = "echo again >> runs.txt; cat runs.txt"
    first = await sandbox.run(Command("eff_1", 1, script))
    heard: list[str] = []
    second = await sandbox.run(Command("eff_1", 2, script), heard.append)
    assert second == first
    assert "".join(heard) == "again\n"


async def test_a_cancelled_call_leaves_the_command_running_and_a_newer_attempt_attaches(sandbox: Sandbox) -> None:
    begun = anyio.Event()
    command = Command("eff_1", 1, "echo begun; sleep 0.3; echo ended >> runs.txt; cat runs.txt")
    async with anyio.create_task_group() as tasks:

        async def follow() -> None:
            await sandbox.run(command, lambda _text: begun.set())

        tasks.start_soon(follow)
        await begun.wait()
        tasks.cancel_scope.cancel()
    result = await sandbox.run(replace(command, attempt=2))
    assert result.output == "begun\nended\n"


async def test_an_older_attempt_is_refused(sandbox: Sandbox) -> None:
    await sandbox.run(Command("eff_1", 2, "true"))
    with pytest.raises(FenceLost):
        await sandbox.run(Command("eff_1", 1, "true"))


async def test_a_waiting_attempt_that_is_overtaken_is_refused(sandbox: Sandbox) -> None:
    begun = anyio.Event()
    refused = anyio.Event()
    command = Command("eff_1", 1, "echo begun; sleep 1000")

    async def first() -> None:
        with pytest.raises(FenceLost):
            await sandbox.run(command, lambda _text: begun.set())
        refused.set()

    async def second() -> None:
        await sandbox.run(replace(command, attempt=2))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(first)
        await begun.wait()
        tasks.start_soon(second)
        await refused.wait()
        await sandbox.kill_command("eff_1")


async def test_an_acknowledged_effect_never_runs_again(sandbox: Sandbox) -> None:
    await sandbox.run(Command("eff_1", 1, "true"))
    await sandbox.acknowledge("eff_1")
    with pytest.raises(Conflict):
        await sandbox.run(Command("eff_1", 2, "true"))


async def test_attaching_only_to_an_unknown_effect_is_refused_and_starts_nothing(sandbox: Sandbox) -> None:
    with pytest.raises(NotFound):
        await sandbox.run(Command("eff_1", 2, "echo ran > ran.txt", attach_only=True))
    assert await sandbox.list_files() == []


async def test_many_commands_run_at_once(sandbox: Sandbox) -> None:
    results: dict[int, str] = {}

    async def one(number: int) -> None:
        results[number] = (await sandbox.run(Command(f"eff_{number}", 1, f"echo {number}"))).output

    async with anyio.create_task_group() as tasks:
        for number in range(20):
            tasks.start_soon(one, number)
    assert results == {number: f"{number}\n" for number in range(20)}


async def test_files_written_are_read_listed_and_seen_by_commands(sandbox: Sandbox) -> None:
    await sandbox.write_files([("src/app.py", b"print(1)\n"), ("note.txt", b"hello")])
    assert await sandbox.read_file("src/app.py", 1000) == b"print(1)\n"
    assert await sandbox.read_file("note.txt", 2) == b"he"
    entries = [(entry.path, entry.size, entry.is_dir) for entry in await sandbox.list_files()]
    assert entries == [("note.txt", 5, False), ("src", 0, True), ("src/app.py", 9, False)]
    assert [entry.path for entry in await sandbox.list_files("src")] == ["src/app.py"]
    assert len(await sandbox.list_files(limit=2)) == 2
    assert (await sandbox.run(Command("eff_1", 1, "cat note.txt"))).output == "hello"


async def test_a_file_is_replaced_as_a_whole(sandbox: Sandbox) -> None:
    await sandbox.write_files([("a.txt", b"a longer text")])
    await sandbox.write_files([("a.txt", b"short")])
    assert await sandbox.read_file("a.txt", 1000) == b"short"
    assert [entry.path for entry in await sandbox.list_files()] == ["a.txt"]


@pytest.mark.parametrize("path", ["/etc/passwd", "../outside", "a/../../outside", "", "a\0b"])
async def test_paths_that_could_leave_the_workspace_are_refused(sandbox: Sandbox, path: str) -> None:
    with pytest.raises(PathRefused):
        await sandbox.read_file(path, 10)
    with pytest.raises(PathRefused):
        await sandbox.write_files([("good.txt", b"x"), (path, b"x")])
    assert await sandbox.list_files() == [], "nothing is written when one path is refused"


async def test_a_missing_file_is_not_found(sandbox: Sandbox) -> None:
    with pytest.raises(NotFound):
        await sandbox.read_file("missing.txt", 10)
    with pytest.raises(NotFound):
        await sandbox.list_files("missing")


async def test_code_gives_its_last_expression_and_keeps_variables(sandbox: Sandbox) -> None:
    first = await sandbox.evaluate(Evaluation("eff_1", 1, "python", "x = 20\nprint('hi')\nx + 1"))
    assert (first.success, first.result, first.result_text, first.stdout) == (True, 21, "21", "hi\n")
    second = await sandbox.evaluate(Evaluation("eff_2", 1, "python", "x * 2"))
    assert second.result == 40


async def test_code_that_fails_says_why_and_keeps_what_it_printed(sandbox: Sandbox) -> None:
    result = await sandbox.evaluate(Evaluation("eff_1", 1, "python", "print('before')\n1 / 0"))
    assert not result.success
    assert result.result is None
    assert "ZeroDivisionError" in str(result.error)
    assert result.stdout == "before\n"


async def test_an_evaluation_again_is_not_run_again(sandbox: Sandbox) -> None:
    await sandbox.evaluate(Evaluation("eff_1", 1, "python", "n = globals().get('n', 0) + 1\nn"))
    again = await sandbox.evaluate(Evaluation("eff_1", 2, "python", "n = globals().get('n', 0) + 1\nn"))
    assert again.result == 1


@pytest.mark.needs("pause")
async def test_a_frozen_sandbox_waits_and_goes_on_after_the_thaw(sandbox: Sandbox) -> None:
    await sandbox.freeze()
    await sandbox.freeze()
    done: list[str] = []

    async def run() -> None:
        done.append((await sandbox.run(Command("eff_1", 1, "echo awake"))).output)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        await anyio.wait_all_tasks_blocked()
        assert done == []
        await sandbox.thaw()
        await sandbox.thaw()
    assert done == ["awake\n"]


async def test_a_second_handle_reaches_the_same_sandbox(provider: SandboxProvider, sandbox: Sandbox) -> None:
    await sandbox.run(Command("eff_1", 1, "echo kept > kept.txt"))
    assert (sandbox.sandbox_id, sandbox.ref) in await provider.list_refs()
    await sandbox.aclose()
    second = await provider.connect(sandbox.sandbox_id, sandbox.ref)
    assert (await second.run(Command("eff_2", 1, "cat kept.txt"))).output == "kept\n"


@pytest.mark.needs("volume")
async def test_a_killed_sandbox_is_lost_for_every_call_and_its_files_serve_the_next(
    provider: SandboxProvider, sandbox: Sandbox, spec: SandboxSpec
) -> None:
    await sandbox.write_files([("kept.txt", b"kept")])
    await sandbox.kill()
    await sandbox.kill()
    with pytest.raises(SandboxLost):
        await sandbox.run(Command("eff_1", 1, "true"))
    with pytest.raises(SandboxLost):
        await sandbox.freeze()
    with pytest.raises(SandboxLost):
        await provider.connect(sandbox.sandbox_id, sandbox.ref)
    assert await provider.list_refs() == []
    again = await provider.create(replace(spec, sandbox_id=spec.sandbox_id + "b"))
    assert await again.read_file("kept.txt", 10) == b"kept"


async def test_a_command_running_when_the_sandbox_is_killed_is_lost(sandbox: Sandbox) -> None:
    begun = anyio.Event()

    async def follow() -> None:
        with pytest.raises(SandboxLost):
            await sandbox.run(Command("eff_1", 1, "echo begun; sleep 1000"), lambda _text: begun.set())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(follow)
        await begun.wait()
        await sandbox.kill()


async def test_the_probe_reports_what_holds_here(provider: SandboxProvider) -> None:
    report = await provider.probe()
    assert report.ok, report
    assert report.fixes == ()
    assert await provider.list_refs() == []

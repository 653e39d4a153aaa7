"""A runaway ends with a clear result and harms nobody else."""

from __future__ import annotations

import re

import anyio
import pytest

from outlast_sandbox.errors import DiskFull, InputTooLarge
from outlast_sandbox.interface import Command, CommandResult, Evaluation
from outlast_sandbox.providers.local.inside.frames import MAX_PAYLOAD_BYTES
from outlast_sandbox.providers.local.sandbox import LocalSandbox
from tests.sandbox.conftest import LIMITS

pytestmark = pytest.mark.sandbox
FILL_PROCESS_TABLE = """
import os, signal
try:
    while os.fork(): pass
except OSError:
    print("full")
signal.pause()
"""
MEMORY_BOMB = "x = []\nwhile True: x.append(bytearray(10_000_000))"


async def test_a_memory_bomb_is_ended_for_memory_and_the_sandbox_lives(box: LocalSandbox) -> None:
    result = await box.run(Command("eff_1", 1, f"python3 -c '{MEMORY_BOMB}'", timeout_s=60))
    assert result.killed_reason == "memory"
    assert result.exit_code == 137
    assert (await box.run(Command("eff_2", 1, "echo alive"))).output == "alive\n"


async def test_a_bomb_of_many_small_processes_does_not_end_the_agent(box: LocalSandbox) -> None:
    hog = "x = bytes(1) * 30_000_000; import time; time.sleep(1)"
    script = f"for i in $(seq 24); do python3 -ISc '{hog}' & done; wait"
    result = await box.run(Command("eff_1", 1, script, timeout_s=60))
    assert not result.timed_out, result
    assert (await box.run(Command("eff_2", 1, "echo alive"))).output == "alive\n"


@pytest.mark.parametrize("bomb", [":(){ :|:; };:", ":(){ :|:& };:; exec dash -c 'while /bin/true; do :; done'"])
async def test_after_a_fork_bomb_the_next_command_runs(box: LocalSandbox, bomb: str) -> None:
    result = await box.run(Command("eff_1", 1, bomb, timeout_s=2))
    assert result.killed_reason == "processes" or result.timed_out
    assert (await box.run(Command("eff_2", 1, "/bin/echo alive"))).output.endswith("alive\n")


async def test_what_fills_the_process_table_in_the_background_is_ended_when_a_command_lacks_room(
    box: LocalSandbox,
) -> None:
    # dash gives up at once; bash would try for 15 s
    await box.run(Command("eff_1", 1, "dash -c 'while true; do sleep 1000 & done'; true", timeout_s=20))
    result = await box.run(Command("eff_2", 1, "dash -c '/bin/echo never | cat'"))
    assert result.killed_reason == "processes"
    assert result.exit_code != 0
    assert re.search(r"the process limit was reached: \d+ background processes were ended", result.output)
    assert (await box.run(Command("eff_3", 1, "/bin/echo alive | cat"))).output == "alive\n"


async def test_a_command_that_leaves_no_process_to_another_is_ended_for_it(box: LocalSandbox) -> None:
    full = anyio.Event()
    ended: list[CommandResult] = []

    async def fill() -> None:
        script = f"python3 -uISc '{FILL_PROCESS_TABLE}'"
        ended.append(await box.run(Command("eff_1", 1, script, timeout_s=60), lambda _text: full.set()))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(fill)
        await full.wait()
        result = await box.run(Command("eff_2", 1, "echo alive"))
    assert result.output.endswith("background processes were ended]\nalive\n")
    assert ended[0].exit_code == 137


async def test_a_flood_of_output_is_cut_in_the_middle_and_ends_at_the_time_limit(box: LocalSandbox) -> None:
    result = await box.run(Command("eff_1", 1, "yes outlast", timeout_s=1, output_limit_bytes=100_000))
    assert result.timed_out
    assert result.truncated
    assert len(result.output) < 101_000
    assert "bytes of output left out" in result.output


async def test_a_file_larger_than_the_disk_limit_is_refused(box: LocalSandbox) -> None:
    size = LIMITS.disk_bytes // 1024**2 + 10
    result = await box.run(Command("eff_1", 1, f"head -c {size}M /dev/zero > big.bin"))
    assert result.exit_code != 0
    result = await box.run(Command("eff_2", 1, f"head -c {size}M /dev/zero > /tmp/big.bin"))
    assert result.exit_code != 0
    with pytest.raises(InputTooLarge):
        await box.write_files([("big.txt", b"x" * (MAX_PAYLOAD_BYTES + 1))])
    assert "big.txt" not in [entry.path for entry in await box.list_files()]


async def test_a_command_that_fills_the_workspace_is_ended_for_disk(box: LocalSandbox) -> None:
    script = "i=0; while true; do i=$((i + 1)); head -c 8M /dev/zero > part$i.bin; sleep 0.02; done"
    result = await box.run(Command("eff_1", 1, script, timeout_s=60))
    assert result.killed_reason == "disk"
    with pytest.raises(DiskFull):
        await box.write_files([("more.txt", b"more")])
    await box.run(Command("eff_2", 1, "rm part*.bin"))
    await box.write_files([("more.txt", b"more")])


async def test_a_command_that_only_tidies_a_full_workspace_is_not_ended(box: LocalSandbox) -> None:
    fill = "i=0; while true; do i=$((i + 1)); head -c 8M /dev/zero > part$i.bin; sleep 0.02; done"
    assert (await box.run(Command("eff_1", 1, fill, timeout_s=60))).killed_reason == "disk"
    # It takes longer than the first look at the disk, which finds the workspace as full as before.
    tidied = await box.run(Command("eff_2", 1, "sleep 2.5; rm part*.bin; echo tidied", timeout_s=60))
    assert (tidied.killed_reason, tidied.output) == (None, "tidied\n")


async def test_a_command_that_fills_a_full_workspace_further_is_ended_for_disk(box: LocalSandbox) -> None:
    fill = "i=0; while true; do i=$((i + 1)); head -c 8M /dev/zero > $name$i.bin; sleep 0.02; done"
    for at, name in enumerate(("first", "second"), start=1):
        ended = await box.run(Command(f"eff_{at}", 1, f"name={name}; {fill}", timeout_s=60))
        assert ended.killed_reason == "disk"


async def test_code_that_eats_all_memory_is_said_to_have(box: LocalSandbox) -> None:
    result = await box.evaluate(Evaluation("eff_1", 1, "python", MEMORY_BOMB))
    assert not result.success
    assert "memory" in str(result.error).lower()
    assert (await box.evaluate(Evaluation("eff_2", 1, "python", "1 + 1"))).result == 2


async def test_output_that_is_not_text_is_shown_as_far_as_it_is(box: LocalSandbox) -> None:
    result = await box.run(Command("eff_1", 1, r"printf 'caf\303\251 \377 ok'"))
    assert result.output == "café \ufffd ok"

"""Whatever a sandbox does to itself, the one beside it goes on as if nothing were."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from outlast_sandbox.interface import Command, Evaluation, SandboxSpec
from outlast_sandbox.providers.local.provider import LocalProvider
from tests.sandbox.conftest import LIMITS

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(180)]
BOMBS = [
    pytest.param("python3 -c 'x = []\nwhile True: x.append(bytearray(10_000_000))'", id="memory"),
    pytest.param("dash -c 'while true; do sleep 1000 & done'; :(){ :|:& };:", id="processes"),
    pytest.param("i=0; while true; do i=$((i+1)); head -c 8M /dev/zero > p$i; sleep 0.02; done", id="disk"),
    pytest.param("yes outlast", id="output"),
    pytest.param("for n in 1 2 3 4; do (while :; do :; done) & done; wait", id="processor"),
]


@pytest.mark.parametrize("bomb", BOMBS)
async def test_the_neighbour_of_a_runaway_works_on(local: LocalProvider, tmp_path: Path, bomb: str) -> None:
    runaway = await local.create(SandboxSpec("sbx_test_runaway", tmp_path / "runaway", LIMITS))
    quiet = await local.create(SandboxSpec("sbx_test_quiet", tmp_path / "quiet", LIMITS))
    await quiet.evaluate(Evaluation("eff_0", 1, "python", "kept = 41"))
    begun, over = anyio.Event(), anyio.Event()

    async def run_away() -> None:
        script = f"echo begun; {bomb}"
        await runaway.run(Command("eff_1", 1, script, timeout_s=3), lambda _text: begun.set())
        over.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run_away)
        await begun.wait()
        number = 0
        while number < 3 or not over.is_set():
            number += 1
            result = await quiet.run(Command(f"eff_{number}", 1, f"echo {number} > a; cat a", timeout_s=60))
            assert (result.exit_code, result.output, result.killed_reason) == (0, f"{number}\n", None)
    assert (await quiet.evaluate(Evaluation("eff_last", 1, "python", "kept + 1"))).result == 42
    assert (await quiet.statistics()).processes < 10
    assert (await runaway.run(Command("eff_after", 1, "echo alive", timeout_s=60))).output.endswith("alive\n")

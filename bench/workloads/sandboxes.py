"""Sandbox: the time of each step of a sandbox's life, without a server, compared with other isolation tools."""

import subprocess
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio.to_thread

from bench.client import now_ms, percentile
from bench.figures import Figure
from bench.workloads.peers import measure_peers
from outlast.base.ids import new_id
from outlast_sandbox.interface import Command, Evaluation, Language, Sandbox, SandboxSpec, SnapshotRecipe
from outlast_sandbox.providers.local.provider import LocalProvider

SHELL = ["/bin/bash", "-c", "true"]


async def measure(quick: bool) -> list[Figure]:
    rounds = 8 if quick else 25
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        provider = LocalProvider(folder / "state", folder / "cache")
        report = await provider.probe()
        if not report.ok:
            return [Figure(f"no sandboxes on this machine: {report.isolation}", float("nan"), "ms")]
        figures = await _starts(provider, folder, rounds)
        sandbox = await provider.create(SandboxSpec(new_id("sandbox"), folder / "workspace"))
        try:
            figures += await _living(sandbox, rounds)
        finally:
            await sandbox.kill()
            await sandbox.aclose()
    return figures + await anyio.to_thread.run_sync(measure_peers, rounds)


async def _starts(provider: LocalProvider, folder: Path, rounds: int) -> list[Figure]:
    recipe = SnapshotRecipe("bench", commands=("echo built > ~/built",))
    snapshot = await provider.build_snapshot(recipe, lambda _step, _output: None)
    bare, layered = [], []
    for number in range(rounds):  # in turn, so that a slow moment of the machine hits both
        bare.append(await _start(provider, SandboxSpec(new_id("sandbox"), folder / f"bare-{number}")))
        spec = SandboxSpec(new_id("sandbox"), folder / f"layered-{number}", snapshot_ref=snapshot.ref)
        layered.append(await _start(provider, spec))
    return [
        Figure("create from a snapshot to first command p50", percentile(layered, 0.5), "ms", 60),
        Figure("create from a snapshot to first command, slowest", percentile(layered, 1), "ms"),
        Figure("create from the bare base to first command p50", percentile(bare, 0.5), "ms"),
    ]


async def _start(provider: LocalProvider, spec: SandboxSpec) -> float:
    began = now_ms()
    sandbox = await provider.create(spec)
    await sandbox.run(Command(new_id("effect"), 1, "true"))
    taken = now_ms() - began
    await sandbox.kill()
    await sandbox.aclose()
    return taken


async def _living(sandbox: Sandbox, rounds: int) -> list[Figure]:
    async def command() -> None:
        await sandbox.run(Command(new_id("effect"), 1, "true"))

    async def bare() -> None:
        await anyio.to_thread.run_sync(lambda: subprocess.run(SHELL, stdin=subprocess.DEVNULL, check=True))

    def evaluation(language: Language) -> Callable[[], Awaitable[None]]:
        async def evaluate() -> None:
            result = await sandbox.evaluate(Evaluation(new_id("effect"), 1, language, "6 * 7"))
            assert result.result == 42, result

        return evaluate

    async def nap() -> None:
        await sandbox.freeze()
        await sandbox.thaw()

    taken: dict[str, list[float]] = {}
    steps = {"command": command, "bare": bare, "ts": evaluation("typescript"), "py": evaluation("python"), "nap": nap}
    for number in range(rounds * 2 + 1):
        for name, step in steps.items():
            began = now_ms()
            await step()
            if number:  # the first starts the sessions
                taken.setdefault(name, []).append(now_ms() - began)
    p50 = {name: percentile(values, 0.5) for name, values in taken.items()}
    return [
        Figure("a command in a running sandbox p50", p50["command"], "ms"),
        Figure("the same over a bare process p50", p50["command"] - p50["bare"], "ms", 2),
        Figure("warm TypeScript evaluation p50", p50["ts"], "ms", 2),
        Figure("warm Python evaluation p50", p50["py"], "ms"),
        Figure("freeze and thaw p50", p50["nap"], "ms"),
    ]

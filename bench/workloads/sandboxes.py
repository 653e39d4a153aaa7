"""Sandbox: from asking for a new one to the end of its first command, without a server around it."""

import tempfile
from pathlib import Path

from bench.client import now_ms, percentile
from bench.figures import Figure
from outlast.base.ids import new_id
from outlast.core.sandboxes.interface import Command, SandboxSpec
from outlast.core.sandboxes.providers.local.provider import LocalProvider


async def measure(quick: bool) -> list[Figure]:
    first, second, frozen = [], [], []
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        provider = LocalProvider(Path(folder) / "state", Path(folder) / "cache")
        report = await provider.probe()
        if not report.ok:
            return [Figure(f"no sandboxes on this machine: {report.isolation}", float("nan"), "ms")]
        for number in range(8 if quick else 20):
            began = now_ms()
            sandbox = await provider.create(
                SandboxSpec(new_id("sandbox"), Path(folder) / f"workspace-{number}")
            )
            await sandbox.run(Command(new_id("effect"), 1, "true"))
            first.append(now_ms() - began)
            began = now_ms()
            await sandbox.run(Command(new_id("effect"), 1, "true"))
            second.append(now_ms() - began)
            began = now_ms()
            await sandbox.freeze()
            await sandbox.thaw()
            frozen.append(now_ms() - began)
            await sandbox.kill()
            await sandbox.aclose()
    return [
        Figure("create to first command p50", percentile(first, 0.5), "ms", 60),
        Figure("create to first command, slowest", percentile(first, 1), "ms"),
        Figure("a further command p50", percentile(second, 0.5), "ms"),
        Figure("freeze and thaw p50", percentile(frozen, 0.5), "ms"),
    ]

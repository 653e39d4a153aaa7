"""A stand-in for the server, to be killed: makes a sandbox, starts a command in it, says its ref, and waits.

python server_stand_in.py STATE_DIR CACHE_DIR WORKSPACE SANDBOX_ID SCRIPT [FREEZE_AFTER_S END_AFTER_S]
"""

from __future__ import annotations

import sys
from pathlib import Path

import anyio

from outlast_sandbox.interface import Command, Orphan, SandboxSpec
from outlast_sandbox.providers.local.provider import LocalProvider


async def main(*words: str) -> None:
    state_dir, cache_dir, workspace, sandbox_id, script, *times = words
    orphan = Orphan(*map(float, times))
    provider = LocalProvider(Path(state_dir), Path(cache_dir))
    await provider.prepare()
    print("starting", flush=True)
    sandbox = await provider.create(SandboxSpec(sandbox_id, Path(workspace), orphan=orphan))
    print(sandbox.ref, flush=True)
    await sandbox.run(Command("eff_1", 1, script, timeout_s=60), lambda text: print("output", text.strip(), flush=True))


anyio.run(main, *sys.argv[1:])

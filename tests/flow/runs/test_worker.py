"""The worker: how many runs at once, leases, the fence, and stopping."""

from pathlib import Path

import anyio

from outlast.base.settings import RunSettings, Settings
from outlast.db.database import Database
from outlast.testing.scripted_model import ScriptedModel, WaitFor, turn
from tests.factories import make_thread
from tests.flow.harness import stage


async def test_a_full_worker_lets_the_others_wait_and_the_server_breathe(
    db: Database, tmp_path: Path
) -> None:
    # With as many runs as allowed, the worker asked for more without ever pausing: the whole server stood still.
    # Found with max_concurrent = 1 and a second run; it now waits until a run ends.
    gate = anyio.Event()
    model = ScriptedModel([turn("First.", WaitFor(gate)), turn("Second.")])
    settings = Settings(runs=RunSettings(max_concurrent=1))
    async with stage(db, tmp_path, model, settings=settings) as it:
        first = await it.start()
        await it.until(first.run_id, "text.delta")
        other = await db.write(make_thread, it.project_id, it.owner)
        second = await it.start(target=other)
        await anyio.wait_all_tasks_blocked()
        assert len(model.requests) == 1
        gate.set()
        assert await it.ended(first.run_id) == "completed"
        assert await it.ended(second.run_id) == "completed"

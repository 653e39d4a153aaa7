"""A client that comes back to a live answer after thousands of events."""

from __future__ import annotations

from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from outlast.db.database import Database
from outlast.kernel.runs.store import run_of
from outlast.kernel.settings import Settings
from outlast.kernel.streams import follow
from outlast.kernel.streams.actions import follow_run
from outlast.kernel.streams.settings import StreamSettings
from outlast.testing.scripted_model import WaitFor, turn
from tests.flow.harness import frames, stage

WORDS = 40


async def test_a_reader_far_behind_a_live_answer_gets_its_parts_whole(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow, "FOLD_BEYOND", 10)
    go_on = anyio.Event()
    turns = [turn("word " * WORDS, WaitFor(go_on), "end")]
    settings = Settings(streams=StreamSettings(save_interval_s=0.01))
    async with stage(db, tmp_path, turns, settings=settings) as it:
        run_id = (await it.start()).run_id
        while (await it.services.db.read(run_of, run_id)).seq_saved < WORDS:
            await anyio.lowlevel.checkpoint()
        chunks = await follow_run(it.services, it.owner, run_id, "1")
        assert chunks is not None
        names = []
        async for _, event in frames(chunks):
            names.append(event["event"])
            if event["event"] in ("part.snapshot", "text.delta"):
                break
        go_on.set()
        assert await it.ended(run_id) == "completed"
    assert names[-1] == "part.snapshot"

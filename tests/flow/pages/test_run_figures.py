"""What a run shows of its page, to whoever operates it."""

from __future__ import annotations

from pathlib import Path

from outlast.db.database import Database
from outlast.kernel.models.protocol import Usage
from outlast.kernel.runs.actions import export_run, read_run
from outlast.testing.scripted_model import turn
from tests.flow.pages.agent_rig import full, lines, page_agent, patches, summary

WROTE = lines(full('<p id="count">0</p>'), patches({"op": "text", "at": "#count", "text": "3"}), "Three.")
MENDED = lines(patches({"op": "text", "at": "#count", "text": "4"}), summary("count → counted"))
WRONG = lines(patches({"op": "remove", "at": "#nowhere"}))


async def test_a_runs_page_and_export_show_what_it_made_of_the_page_and_its_cached_share(
    db: Database, tmp_path: Path
) -> None:
    asked, cached = Usage(1000, 50), Usage(1000, 50, cached_tokens=900)
    turns = [turn(WROTE + WRONG, usage=asked), turn(MENDED, usage=cached)]
    async with page_agent(db, tmp_path, turns) as it:
        started = await it.ask()
        await it.events(started.run_id)
        details = await read_run(it.services, it.owner, started.run_id)
        assert details.page is not None
        assert (details.page.page_id, details.page.version) == (it.page.id, (await it.now()).version)
        stats = details.page.stats
        assert stats is not None
        assert (stats.patches, stats.replaced, stats.refused) == (2, 1, 1)
        assert (stats.input_tokens, stats.cached_tokens, stats.cached_share) == (2000, 900, 0.45)
        assert details.usage.cached_tokens == 900
        exported = await export_run(it.services, it.owner, started.run_id)
        assert exported["cached_share"] == 0.45
        assert exported["page"] == details.page.model_dump()
        kept = [effect["result"].get("problems", []) for effect in exported["effects"] if effect["kind"] == "model"]
        assert [len(problems) for problems in kept] == [1, 0]
        told = [message.role for message in it.model.requests[1].messages]
        assert told == ["user", "assistant", "user"]

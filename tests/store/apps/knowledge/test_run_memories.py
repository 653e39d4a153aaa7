"""A line of each run: kept once, told again where it resembles what is asked."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.apps.knowledge import run_memories
from outlast.apps.knowledge.run_memories import SUMMARY_CHARS
from outlast.apps.knowledge.search import Knowledge
from outlast.apps.knowledge.vector_keeper import memories_without_vector, save_vectors
from outlast.db.database import Database
from outlast.kernel.library.memories import Memory
from outlast.kernel.mentions.rules import one_line
from outlast.testing.clock import ManualClock
from outlast.testing.embeddings import HashingEmbedder
from tests.factories import Team

LINES = [
    "show my issues → listed 12 open issues in a table",
    "add slack → a button that sends an issue to a channel",
    "darker header → changed colours",
    "sort by date → table sorted by creation",
]


@pytest.fixture
async def team(db: Database) -> Team:
    made: Team = await db.write(Team)
    return made


async def remember(db: Database, team: Team, *summaries: str) -> list[Memory | None]:
    return [
        await db.write(
            run_memories.remember,
            project_id=team.project_id,
            thread_id=team.thread_id,
            run_id=f"run_{number}",
            summary=summary,
        )
        for number, summary in enumerate(summaries)
    ]


def searcher(db: Database, embedder: Any = None) -> Knowledge:
    return Knowledge(db, ManualClock(), embedder=embedder)


async def test_a_run_has_one_line_and_the_last_counts(db: Database, team: Team) -> None:
    await remember(db, team, "first")
    await remember(db, team, "second\n line ")
    assert [one.summary for one in await db.read(run_memories.of_thread, team.thread_id)] == ["second line"]
    assert await db.read(run_memories.summaries_of_runs, ["run_0", "run_1"]) == {"run_0": "second line"}


async def test_an_empty_line_is_not_kept(db: Database, team: Team) -> None:
    assert await remember(db, team, "  ") == [None]


async def test_lines_are_read_newest_first_without_those_of_the_runs_named(db: Database, team: Team) -> None:
    await remember(db, team, *LINES)
    found = await db.read(run_memories.of_thread, team.thread_id, without={"run_3"}, limit=2)
    assert [one.run_id for one in found] == ["run_2", "run_1"]


@pytest.mark.parametrize("embedded", [False, True])
async def test_what_resembles_the_request_is_recalled_best_first(db: Database, team: Team, embedded: bool) -> None:
    await remember(db, team, *LINES)
    embedder = HashingEmbedder() if embedded else None
    if embedder is not None:
        texts = dict(await db.read(memories_without_vector, embedder.model, 100))
        made = await embedder.embed(list(texts.values()))
        await db.write(save_vectors, embedder.model, dict(zip(texts, made, strict=True)))
        assert await db.read(memories_without_vector, embedder.model, 100) == []
    found = await searcher(db, embedder).recall(team.thread_id, "send it to slack", limit=2)
    assert found[0].summary == LINES[1]
    assert len(found) <= 2


async def test_a_run_never_recalls_itself_nor_what_is_told_anyhow(db: Database, team: Team) -> None:
    await remember(db, team, *LINES)
    found = await searcher(db).recall(team.thread_id, "slack channel", without={"run_1"})
    assert LINES[1] not in [one.summary for one in found]


async def test_nothing_is_recalled_for_nothing(db: Database, team: Team) -> None:
    await remember(db, team, *LINES)
    assert await searcher(db).recall(team.thread_id, "   ") == []
    assert await searcher(db).recall(team.thread_id, "slack", limit=0) == []
    assert await searcher(db).recall(team.thread_id, "zebra") == []
    assert await searcher(db).recall("thr_none", "slack") == []


@given(st.text())
def test_a_line_is_one_line_of_bounded_length(text: str) -> None:
    line = one_line(text, SUMMARY_CHARS)
    assert "\n" not in line
    assert len(line) <= SUMMARY_CHARS
    assert one_line(line, SUMMARY_CHARS) == line

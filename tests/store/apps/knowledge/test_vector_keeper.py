"""Texts get their vectors in the background, whatever the embedder thinks of one of them, and cheaply told."""

from __future__ import annotations

from collections.abc import Sequence

import anyio
import orjson
import pytest

from outlast.apps.knowledge import source_store
from outlast.apps.knowledge import vector_keeper as embedding
from outlast.apps.knowledge.memories.store import insert as insert_memory
from outlast.apps.knowledge.passage_changes import Contents
from outlast.apps.knowledge.source_documents import Document, Reading, cut_documents
from outlast.apps.knowledge.source_store import NewSource
from outlast.apps.knowledge.store import VECTORS
from outlast.apps.knowledge.vector_keeper import VectorKeeper, remove_unused_vectors
from outlast.base.errors import ModelKeyRefused, ModelRejected, StorageUnavailable
from outlast.db.database import Database, Tx
from outlast.kernel.streams.log_store import read_all
from outlast.testing.clock import ManualClock
from outlast.testing.embeddings import HashingEmbedder
from tests.factories import Team

WHERE = "https://docs.example/sdk.md"


class Picky(HashingEmbedder):
    """Refuses every request with this word in one of its texts."""

    def __init__(self, word: str) -> None:
        super().__init__()
        self.word, self.requests = word, 0

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        self.requests += 1
        if any(self.word in text for text in texts):
            raise ModelRejected("too long")
        return await super().embed(texts)


async def remember(db: Database, team: Team, *lines: str) -> None:
    def run(tx: Tx) -> None:
        for line in lines:
            insert_memory(tx, team.project_id, "run", line, thread_id=team.thread_id, run_id=f"run_{line}")

    await db.write(run)


async def documented(db: Database, team: Team, chapters: int) -> str:
    text = "\n\n".join(f"## Chapter {n}\n\nWords of chapter {n}." for n in range(chapters))
    documents = [Document(url=WHERE, text=text)]
    contents = Contents(Reading(documents=documents), cut_documents(documents, 1000), "cut")

    def run(tx: Tx) -> str:
        source_id = source_store.add(tx, NewSource("tracker", "markdown", WHERE, team.project_id), None)
        source_store.fill(tx, source_id, contents, None)
        return source_id

    return await db.write(run)


async def without_vector(db: Database, embedder: HashingEmbedder) -> list[str]:
    return [text for _, text in await db.read(embedding.memories_without_vector, embedder.model, 1000)]


async def told(db: Database, team: Team) -> list[int]:
    lines = [orjson.loads(line) for _, line in await db.read(read_all, team.project_id)]
    return [one["data"]["source"]["embedded"] for one in lines if one["event"] == "knowledge.updated"]


async def test_a_refused_text_keeps_no_other_from_its_vector_and_is_not_sent_again(
    db: Database, caplog: pytest.LogCaptureFixture
) -> None:
    team = await db.write(Team)
    await remember(db, team, *(f"line {n}" for n in range(9)), "awful")
    embedder = Picky("awful")
    vectors = VectorKeeper(db, ManualClock(), embedder, batch=4)
    assert await vectors.embed_missing() == 9
    assert await without_vector(db, embedder) == ["awful"]
    asked = embedder.requests
    await remember(db, team, "later")
    assert await vectors.embed_missing() == 1
    assert embedder.requests == asked + 1
    assert await without_vector(db, embedder) == ["awful"]
    assert sum("refuses a text" in record.message for record in caplog.records) == 1


async def test_an_embedder_that_refuses_everything_is_in_trouble_itself_and_no_text_is_given_up(db: Database) -> None:
    team = await db.write(Team)
    await remember(db, team, "one", "two")
    embedder = HashingEmbedder()
    vectors = VectorKeeper(db, ManualClock(), embedder)
    embedder.error = ModelKeyRefused("no")
    with pytest.raises(ModelKeyRefused):
        await vectors.embed_missing()
    embedder.error = None
    assert await vectors.embed_missing() == 2


async def test_what_was_embedded_before_a_failure_stays(db: Database) -> None:
    team = await db.write(Team)
    await remember(db, team, *(f"line {n}" for n in range(4)))
    embedder = HashingEmbedder()
    answer, failures = embedder.embed, [None, StorageUnavailable("no")]

    async def embed(texts: Sequence[str]) -> list[bytes]:
        failure = failures.pop(0) if failures else None
        if failure:
            raise failure
        return await answer(texts)

    embedder.embed = embed  # type: ignore[method-assign]
    vectors = VectorKeeper(db, ManualClock(), embedder, batch=2)
    with pytest.raises(StorageUnavailable):
        await vectors.embed_missing()
    assert len(await without_vector(db, embedder)) == 2
    assert await vectors.embed_missing() == 2


async def test_a_source_is_told_of_at_once_then_every_few_seconds_and_at_the_end(db: Database) -> None:
    team = await db.write(Team)
    await documented(db, team, 8)
    clock, embedder = ManualClock(), HashingEmbedder()
    assert await VectorKeeper(db, clock, embedder, batch=2).embed_missing() == 8
    assert await told(db, team) == [2, 8]


@pytest.mark.parametrize("failure", [StorageUnavailable("no"), ValueError("a bug")], ids=["refused", "bug"])
async def test_nothing_that_fails_once_ends_the_vector_keeper(
    db: Database, monkeypatch: pytest.MonkeyPatch, failure: Exception
) -> None:
    team = await db.write(Team)
    await remember(db, team, "one")
    right, failures = remove_unused_vectors, [failure]

    def once(tx: Tx) -> int:
        if failures:
            raise failures.pop()
        return right(tx)

    monkeypatch.setattr(embedding, "remove_unused_vectors", once)
    clock, embedder = ManualClock(), HashingEmbedder()
    rested = anyio.Event()
    db.on_notice(lambda _stream: rested.set())
    vectors = VectorKeeper(db, clock, embedder)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(db.background)
        tasks.start_soon(vectors.run)
        with anyio.fail_after(30):
            await clock.wait_sleepers()
            clock.advance(embedding.PAUSES_S[0])
            while await without_vector(db, embedder):
                await rested.wait()
                rested = anyio.Event()
        tasks.cancel_scope.cancel()
    assert not failures


async def test_what_a_run_stores_in_a_pause_is_embedded_at_once(db: Database) -> None:
    team = await db.write(Team)
    clock, embedder, saved = ManualClock(), Picky(""), anyio.Event()  # each text has the empty one in it
    db.on_notice(lambda bell: saved.set() if bell == VECTORS else None)
    await remember(db, team, "first")
    vectors = VectorKeeper(db, clock, embedder)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(db.background)
        tasks.start_soon(vectors.run)
        with anyio.fail_after(30):
            await clock.wait_sleepers()  # it failed, and pauses
            embedder.word = "nothing"
            await remember(db, team, "second")
            await saved.wait()
        tasks.cancel_scope.cancel()
    assert await without_vector(db, embedder) == []

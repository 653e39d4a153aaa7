"""Search in documentation: the quality of the ranking per method on public test sets, and the time of a search.

Test sets are in a folder (`OUTLAST_BENCH_IR`, default: `../shared/ir` next to the repository): `NAME.docs.jsonl.gz`
with lines {id, heading, text} and `NAME.queries.jsonl` with {query, relevant: [id …]}. Without any, only times are
measured.

Everything uses the server's code: passages and vectors in a SQLite file, `Knowledge`, and an embedder that calls a
server over OpenAI's /embeddings. That server's vectors are hashed words and word parts (feature hashing, see
`outlast.testing.embeddings`), not a trained model's: they measure the cost of the path, not its quality.
"""

import gzip
import math
import os
import random
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson

from bench.figures import Figure
from outlast.apps.knowledge import store
from outlast.apps.knowledge.passages import Cut, searched_text
from outlast.apps.knowledge.search import Knowledge
from outlast.apps.knowledge.tables import knowledge_passages, knowledge_sources, vectors
from outlast.base.clock import SystemClock
from outlast.base.ids import new_id
from outlast.db.connect import migrate, open_database
from outlast.db.database import Database, Tx
from outlast.kernel.models.api_key import ApiKey
from outlast.kernel.models.embedders import OpenAIEmbedder
from outlast.kernel.models.providers.connections import Connections
from outlast.kernel.models.settings import EmbeddingSettings
from outlast.testing.embeddings import MODEL, embedding_server

SETS: Final = ("claude-docs", "tldr")
FOLDER: Final = Path(__file__).parents[3] / "shared" / "ir"
DIMENSIONS: Final = 1024  # of the quality test
TIMED_DIMENSIONS: Final = 384  # as small local models have
DEPTH: Final = 10
SOURCES: Final = 20  # that the passages of a timed search are spread over
GOAL_MS: Final = 20
GOAL_NDCG: Final = 0.73


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    relevant: frozenset[str]


async def measure(quick: bool) -> list[Figure]:
    """Quality per set and method; then latency at 10,000 and (unless `quick`) 100,000 passages."""
    folder = Path(os.environ.get("OUTLAST_BENCH_IR", FOLDER))
    figures: list[Figure] = []
    for name in SETS:
        if (folder / f"{name}.docs.jsonl.gz").exists():
            figures += await _quality(folder, name, quick)
        else:
            print(f"search: no test set {name} in {folder}; skipped", file=sys.stderr)
    for count in (10_000,) if quick else (10_000, 100_000):
        figures += await _times(folder, count)
    return figures


# --- quality


async def _quality(folder: Path, name: str, quick: bool) -> list[Figure]:
    docs = list(_docs(folder, name))
    lines = (folder / f"{name}.queries.jsonl").read_bytes().splitlines()
    questions = [
        Question(row["query"], frozenset(map(str, row["relevant"])))
        for row in map(orjson.loads, lines[: 200 if quick else None])
    ]
    cuts = [Cut(doc["heading"], doc["text"], str(doc["id"])) for doc in docs]
    figures = []
    async with _searched(cuts, DIMENSIONS) as methods:
        for method, knowledge in methods.items():
            ndcg, recall = await _judge(knowledge, questions)
            goal = GOAL_NDCG if (name, method) == ("claude-docs", "words") else None
            figures.append(Figure(f"{name}, {method}: nDCG@10", ndcg, "0–1", goal, more_is_better=True))
            figures.append(Figure(f"{name}, {method}: recall@5", recall, "0–1", more_is_better=True))
    return figures


async def _judge(knowledge: Knowledge, questions: Sequence[Question]) -> tuple[float, float]:
    """nDCG@10 and recall@5, each the mean over the questions; all judgements are yes or no."""
    gains, recalls = [], []
    for question in questions:
        answer = await knowledge.search(question.text, project_id="", limit=DEPTH)
        found = [hit.url for hit in answer.items]
        gain = sum(1 / math.log2(at + 2) for at, one in enumerate(found) if one in question.relevant)
        best = sum(1 / math.log2(at + 2) for at in range(min(DEPTH, len(question.relevant))))
        gains.append(gain / best)
        recalls.append(len(question.relevant.intersection(found[:5])) / len(question.relevant))
    return float(np.mean(gains)), float(np.mean(recalls))


@asynccontextmanager
async def _searched(cuts: Sequence[Cut], dimensions: int) -> AsyncIterator[dict[str, Knowledge]]:
    """Passages stored and embedded over the wire; a search for each method."""
    async with _database() as db, embedding_server() as url:
        connections = Connections()
        try:
            clock = SystemClock()
            embedder = OpenAIEmbedder(
                connections, clock, EmbeddingSettings(url, MODEL, dimensions=dimensions), ApiKey("")
            )
            await db.write(_put, "docs", cuts)
            texts = [searched_text(cut.heading, cut.body) for cut in cuts]
            await db.write(_put_vectors, embedder.model, [cut.hash for cut in cuts], await embedder.embed(texts))
            yield {
                "words": Knowledge(db, clock),
                "vectors": Knowledge(db, clock, embedder=embedder, vector_share=1.0),
                "words+vectors": Knowledge(db, clock, embedder=embedder),
            }
        finally:
            await connections.aclose()


# --- time


async def _times(folder: Path, count: int) -> list[Figure]:
    """Searches one after the other, each with a new query; the query's vector is precomputed, because its cost is the
    embedder's."""
    cuts, queries = _made_up(folder, count)
    label = f"{count:,} passages"
    with tempfile.TemporaryDirectory() as kept:
        async with _database() as db:
            clock, given = SystemClock(), _GivenVectors(TIMED_DIMENSIONS)
            each = math.ceil(len(cuts) / SOURCES)
            for number in range(SOURCES):
                part = cuts[number * each : (number + 1) * each]
                await db.write(_put, f"package-{number}", part)
                rows = given.random(len(part))
                await db.write(_put_vectors, given.model, [cut.hash for cut in part], rows)
            began = time.perf_counter()
            plain = Knowledge(db, clock, folder=Path(kept))
            await plain.search(queries[0], project_id="")
            built = time.perf_counter() - began
            began = time.perf_counter()
            both = Knowledge(db, clock, folder=Path(kept), embedder=given)
            await both.search(queries[0], project_id="")
            loaded = time.perf_counter() - began
            words = [await _timed(plain, query) for query in queries]
            one = [await _timed(both, query, "package-3") for query in queries]
            fused = [await _timed(both, query) for query in queries]
    return [
        Figure(f"{label}, words: p50", _ms(words, 50), "ms", GOAL_MS),
        Figure(f"{label}, words: p95", _ms(words, 95), "ms"),
        Figure(f"{label}, words+vectors ({TIMED_DIMENSIONS}): p50", _ms(fused, 50), "ms", GOAL_MS),
        Figure(f"{label}, words+vectors ({TIMED_DIMENSIONS}): p95", _ms(fused, 95), "ms"),
        Figure(f"{label}, words+vectors, one package of {SOURCES}: p50", _ms(one, 50), "ms"),
        Figure(f"{label}: first search ever (builds indexes)", built, "s"),
        Figure(f"{label}: first search after a start (loads indexes and vectors)", loaded, "s"),
    ]


async def _timed(knowledge: Knowledge, query: str, package: str | None = None) -> float:
    began = time.perf_counter()
    await knowledge.search(query, project_id="", package=package)
    return time.perf_counter() - began


def _ms(seconds: Sequence[float], percent: float) -> float:
    return float(np.percentile(seconds, percent)) * 1000


class _GivenVectors:
    """A free embedder: a random vector for every text."""

    def __init__(self, dimensions: int) -> None:
        self.model = f"random:{dimensions}"
        self._dimensions, self._random = dimensions, np.random.default_rng(7)

    def random(self, count: int) -> list[bytes]:
        rows = self._random.standard_normal((count, self._dimensions), np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return [row.tobytes() for row in rows.astype("<f2")]

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        return self.random(len(texts))


def _made_up(folder: Path, count: int) -> tuple[list[Cut], list[str]]:
    """Passages of about 800 characters with realistic word frequencies, and questions: from the public pages if present
    (mixing sentences of several), otherwise from made-up words."""
    chance = random.Random(7)
    sentences = list(_sentences(folder)) or [
        " ".join(f"word{int(chance.paretovariate(0.8)) % 50_000}" for _ in range(12)) for _ in range(20_000)
    ]
    cuts = []
    for number in range(count):
        body = f"Passage {number}."
        while len(body) < 780:
            body += " " + chance.choice(sentences)
        cuts.append(Cut(f"Heading {number}", body, f"https://docs.test/{number}"))
    queries = [f"how do I {chance.choice(sentences)[:60]}?" for _ in range(200)]
    return cuts, queries


def _sentences(folder: Path) -> Iterator[str]:
    for name in SETS:
        for doc in _docs(folder, name):
            yield from (part.strip() for part in doc["text"].split("\n") if part.strip())


def _docs(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    """The sentences of a test set, or nothing if there is none."""
    file = folder / f"{name}.docs.jsonl.gz"
    if file.exists():
        with gzip.open(file) as lines:
            yield from map(orjson.loads, lines)


# --- the database


@asynccontextmanager
async def _database() -> AsyncIterator[Database]:
    with tempfile.TemporaryDirectory() as folder:
        database = open_database("sqlite:///bench.db", Path(folder), SystemClock())
        try:
            await migrate(database)
            yield database
        finally:
            await database.aclose()


def _put(tx: Tx, package: str, cuts: Sequence[Cut]) -> None:
    source_id = new_id("source")
    tx.insert(
        knowledge_sources,
        id=source_id,
        package=package,
        kind="markdown",
        location="https://docs.test",
        version="1.0.0",
        state="ready",
        revision=1,
        passages=len(cuts),
        fetched_at=tx.now,
        created_at=tx.now,
    )
    rows = [
        {
            "id": new_id("passage"),
            "source_id": source_id,
            "package": package,
            "version": "1.0.0",
            "position": position,
            "heading": cut.heading,
            "body": cut.body,
            "url": cut.url,
            "hash": cut.hash,
        }
        for position, cut in enumerate(cuts)
    ]
    tx.execute(knowledge_passages.insert(), rows)
    tx.ring(store.BELL)


def _put_vectors(tx: Tx, model: str, hashes: Sequence[str], rows: Sequence[bytes]) -> None:
    pairs = dict(zip(hashes, rows, strict=True))
    tx.execute(
        vectors.insert(),
        [{"model": model, "hash": one, "vector": row, "created_at": tx.now} for one, row in pairs.items()],
    )

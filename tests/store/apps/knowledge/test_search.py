"""Search over stored passages: the same answers on SQLite and on PostgreSQL, with and without an embedder."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import pytest
import sqlalchemy as sa

from outlast.apps.knowledge import index_cache, search, store
from outlast.apps.knowledge import saved_indexes as saved
from outlast.apps.knowledge import vector_math as comparing
from outlast.apps.knowledge.excerpts import known_package
from outlast.apps.knowledge.passages import searched_text
from outlast.apps.knowledge.reranker import Reranker, RerankFailed
from outlast.apps.knowledge.rows import KnowledgePassageRow
from outlast.apps.knowledge.search import REST_S, Knowledge
from outlast.apps.knowledge.tables import knowledge_passages, knowledge_sources, vectors
from outlast.apps.knowledge.vector_keeper import VectorKeeper
from outlast.base.clock import iso
from outlast.base.ids import new_id
from outlast.db.database import Database, Tx
from outlast.kernel.library.modules import Module, text_hash
from outlast.testing.clock import START, ManualClock
from outlast.testing.embeddings import HashingEmbedder
from tests.factories import Team

TEXTS = [
    ("Issues › Create", "Call `createIssue({title})` to open an issue.", "https://docs.test/issues#create"),
    ("Issues › List", "Call `listIssues()`; it gives pages of fifty.", "https://docs.test/issues#list"),
    ("Authentication", "Send the key in the header `authorization`.", "https://docs.test/auth"),
    ("Webhooks", "Webhooks tell your server about changes.", "https://docs.test/webhooks"),
]


def put_source(
    tx: Tx,
    /,
    package: str = "npm:tracker",
    texts: Sequence[tuple[str, str, str]] = TEXTS,
    project_id: str | None = None,
    **fields: Any,
) -> str:
    """A source with these passages (heading, text, url), as it stands after it was fetched."""
    source_id = new_id("source")
    row: dict[str, Any] = {
        "kind": "markdown",
        "location": "https://docs.test",
        "version": "2.1.0",
        "state": "ready",
        "revision": 1,
        "fetched_at": START,
        "created_at": tx.now,
        **fields,
    }
    tx.execute(
        sa.insert(knowledge_sources).values(
            id=source_id, project_id=project_id, package=package, passages=len(texts), **row
        )
    )
    put_passages(tx, source_id, package, texts)
    return source_id


def put_passages(tx: Tx, source_id: str, package: str, texts: Sequence[tuple[str, str, str]]) -> None:
    for position, (heading, body, url) in enumerate(texts):
        tx.insert(
            knowledge_passages,
            id=new_id("passage"),
            source_id=source_id,
            package=package,
            version="2.1.0",
            position=position,
            heading=heading,
            body=body,
            url=url,
            hash=text_hash(searched_text(heading, body)),
        )


def replace_passages(tx: Tx, source_id: str, texts: Sequence[tuple[str, str, str]]) -> None:
    tx.execute(sa.delete(knowledge_passages).where(knowledge_passages.c.source_id == source_id))
    put_passages(tx, source_id, "npm:tracker", texts)
    changed = {"passages": len(texts), "revision": knowledge_sources.c.revision + 1}
    tx.execute(sa.update(knowledge_sources).where(knowledge_sources.c.id == source_id).values(**changed))
    tx.ring(store.BELL)


async def embed_all(db: Database, embedder: HashingEmbedder, only: Sequence[str] | None = None) -> None:
    """Store the vectors of all passages (or of those with these headings), as the vector keeper does."""
    rows = await db.read(lambda tx: tx.rows(KnowledgePassageRow, sa.select(knowledge_passages)))
    chosen = [row for row in rows if only is None or row.heading in only]
    made = await HashingEmbedder(embedder.dimensions).embed([searched_text(row.heading, row.body) for row in chosen])

    def put(tx: Tx) -> None:
        known = store.vectors_of(tx, embedder.model, [row.hash for row in chosen])
        for row, vector in zip(chosen, made, strict=True):
            if row.hash not in known:
                tx.insert(vectors, model=embedder.model, hash=row.hash, vector=vector, created_at=tx.now)
                known[row.hash] = vector
        tx.ring(store.VECTORS)

    await db.write(put)


@pytest.fixture
async def team(db: Database) -> Team:
    made: Team = await db.write(Team)
    return made


@pytest.fixture
def embedder() -> HashingEmbedder:
    return HashingEmbedder()


def headings(answer: Any) -> list[str]:
    return [hit.heading for hit in answer.items]


async def test_a_hit_says_what_it_is_where_it_stands_and_how_old_it_is(db: Database, team: Team):
    source_id = await db.write(put_source)
    answer = await Knowledge(db, ManualClock()).search("create an issue", project_id=team.project_id)
    hit = answer.items[0]
    assert (hit.type, hit.heading, hit.text, hit.url) == ("doc", *TEXTS[0])
    assert (hit.package, hit.version, hit.fetched_at) == ("npm:tracker", "2.1.0", iso(START))
    assert (hit.score, hit.source_id, answer.searched) == (1.0, source_id, len(TEXTS))
    assert {"createIssue", "issue"} <= set(hit.terms)
    assert headings(answer) == ["Issues › Create", "Issues › List"]


async def test_without_an_embedder_words_are_searched_and_that_is_said(db: Database, team: Team):
    await db.write(put_source)
    answer = await Knowledge(db, ManualClock()).search("webhooks", project_id=team.project_id)
    assert answer.method == "words"
    assert "No embedder is configured" in answer.note
    assert headings(answer) == ["Webhooks"]


async def test_with_an_embedder_both_ways_of_searching_are_put_together(
    db: Database, team: Team, embedder: HashingEmbedder
):
    await db.write(put_source)
    await embed_all(db, embedder)
    knowledge = Knowledge(db, ManualClock(), embedder=embedder)
    answer = await knowledge.search("creation of issues", project_id=team.project_id)
    assert (answer.method, answer.note) == ("words+vectors", "")
    assert answer.items[0].heading == "Issues › Create"
    nearness = answer.items[0].scores.vectors
    assert nearness is not None
    assert answer.items[0].score == pytest.approx(0.7 * nearness + 0.3, abs=0.001)


async def test_an_embedder_that_fails_is_left_alone_for_a_while_and_words_do(
    db: Database, team: Team, embedder: HashingEmbedder
):
    await db.write(put_source)
    await embed_all(db, embedder)
    clock = ManualClock()
    knowledge = Knowledge(db, clock, embedder=embedder)
    embedder.error = ConnectionRefusedError()
    for _ in range(3):
        answer = await knowledge.search("webhooks", project_id=team.project_id)
        assert (answer.method, headings(answer)) == ("words", ["Webhooks"])
        assert "embedder" in answer.note
    assert len(embedder.texts) == 1
    embedder.error = None
    clock.advance(REST_S)
    answer = await knowledge.search("webhooks", project_id=team.project_id)
    assert (answer.method, answer.note) == ("words+vectors", "")


async def test_a_query_is_embedded_once(db: Database, team: Team, embedder: HashingEmbedder):
    await db.write(put_source)
    await embed_all(db, embedder)
    knowledge = Knowledge(db, ManualClock(), embedder=embedder)
    for _ in range(3):
        await knowledge.search("webhooks", project_id=team.project_id)
    assert embedder.texts == ["webhooks"]


async def test_what_has_no_vector_yet_is_found_by_its_words_and_gets_it_with_the_next_news(
    db: Database, team: Team, embedder: HashingEmbedder
):
    await db.write(put_source)
    await embed_all(db, embedder, only=["Authentication", "Webhooks"])
    knowledge = Knowledge(db, ManualClock(), embedder=embedder)
    before = await knowledge.search("createIssue", project_id=team.project_id)
    assert before.items[0].heading == "Issues › Create"
    assert before.items[0].scores.vectors is None
    await embed_all(db, embedder)
    knowledge._hear(store.VECTORS)  # on PostgreSQL it comes over the wire, a moment later
    after = await knowledge.search("createIssue", project_id=team.project_id)
    assert after.items[0].heading == "Issues › Create"
    assert after.items[0].scores.vectors is not None


async def test_where_vectors_do_not_fit_into_memory_those_of_the_best_by_words_are_looked_up(
    db: Database, team: Team, embedder: HashingEmbedder
):
    await db.write(put_source)
    await embed_all(db, embedder)
    small = Knowledge(db, ManualClock(), embedder=embedder, most_bytes=4000)
    large = Knowledge(db, ManualClock(), embedder=embedder)
    asked = {"query": "list of issues", "project_id": team.project_id, "limit": 2}
    assert await _scored(small, asked) == await _scored(large, asked)


async def _scored(knowledge: Knowledge, asked: dict[str, Any]) -> list[tuple[str, float]]:
    answer = await knowledge.search(**asked)
    assert answer.method == "words+vectors"
    return [(hit.heading, hit.score) for hit in answer.items]


async def test_a_project_sees_its_own_documentation_and_everybodys_but_no_other_projects(db: Database, team: Team):
    other: Team = await db.write(Team)
    own = [("Ours", "webhooks of ours", "")]
    theirs = [("Theirs", "webhooks of theirs", "")]
    await db.write(put_source)
    await db.write(put_source, "handbook", own, project_id=team.project_id)
    await db.write(put_source, "handbook", theirs, project_id=other.project_id)
    knowledge = Knowledge(db, ManualClock())
    answer = await knowledge.search("webhooks", project_id=team.project_id)
    assert set(headings(answer)) == {"Webhooks", "Ours"}
    assert [one.package for one in await knowledge.packages(team.project_id)] == ["handbook", "npm:tracker"]


async def test_a_package_can_be_asked_for_alone_also_without_registry_and_version(db: Database, team: Team):
    await db.write(put_source)
    await db.write(put_source, "pypi:hooks", [("Hooks", "webhooks for Python", "")])
    knowledge = Knowledge(db, ManualClock())
    for name in ("npm:tracker", "tracker", "Tracker@2"):
        answer = await knowledge.search("webhooks", project_id=team.project_id, package=name)
        assert headings(answer) == ["Webhooks"], name
    nothing = await knowledge.search("webhooks", project_id=team.project_id, package="npm:other")
    assert (nothing.items, nothing.method) == ([], "words")
    assert "No documentation of npm:other" in nothing.note


def test_a_scope_is_part_of_a_packages_name():
    known = ["npm:@linear/sdk", "handbook"]
    assert known_package("@linear/sdk@98", known) == "npm:@linear/sdk"
    assert known_package("sdk", known) == "sdk"


async def test_a_source_that_changes_is_searched_as_it_is_now(db: Database, team: Team, tmp_path: Path):
    source_id = await db.write(put_source)
    knowledge = Knowledge(db, ManualClock(), folder=tmp_path / "search")
    assert headings(await knowledge.search("webhooks", project_id=team.project_id)) == ["Webhooks"]
    await db.write(replace_passages, source_id, [("Events", "webhooks are called events now", "")])
    assert headings(await knowledge.search("webhooks", project_id=team.project_id)) == ["Events"]
    await db.write(lambda tx: tx.execute(sa.delete(knowledge_sources)))
    assert headings(await knowledge.search("webhooks", project_id=team.project_id)) == []


async def test_an_index_kept_from_an_earlier_start_gives_the_same_answer_and_a_broken_one_is_made_anew(
    db: Database, team: Team, tmp_path: Path
):
    source_id = await db.write(put_source)
    folder = tmp_path / "search"

    async def ask() -> list[tuple[str, float]]:
        answer = await Knowledge(db, ManualClock(), folder=folder).search("list an issue", project_id=team.project_id)
        return [(hit.heading, hit.score) for hit in answer.items]

    first = await ask()
    kept = folder / f"{source_id}.npz"
    assert kept.exists()
    assert await ask() == first
    kept.write_bytes(kept.read_bytes()[:100])
    assert await ask() == first


async def test_equal_texts_are_shown_once(db: Database, team: Team):
    await db.write(put_source)
    await db.write(put_source, "npm:tracker-mirror")
    answer = await Knowledge(db, ManualClock()).search("webhooks", project_id=team.project_id)
    assert headings(answer) == ["Webhooks"]


async def test_a_query_of_nothing_or_of_anything_is_answered(db: Database, team: Team):
    knowledge = Knowledge(db, ManualClock())
    for query in ("", "the", "�\x00'\"%", "x" * 100_000):
        assert (await knowledge.search(query, project_id=team.project_id)).items == []
    await db.write(put_source)
    for query in ("", "the", "�\x00'\"%", "webhooks " * 10_000):
        await knowledge.search(query, project_id=team.project_id)


class Shelf:
    """A shelf with one module, while its file lives."""

    dependencies = "d1"

    def __init__(self) -> None:
        self.lives = True
        self.asked: list[tuple[str | None, str | None]] = []

    async def usable(self, workspace_id: str | None, user_id: str | None) -> list[Module]:
        self.asked.append((workspace_id, user_id))
        module = Module(
            id="mod_1",
            project_id=None,
            workspace_id=workspace_id,
            page_id=None,
            user_id="usr_1",
            scope="session",
            path="lib/tracker.ts",
            description="Reads all open issues of the tracker.",
            exports=["openIssues"],
            usage="import { openIssues } from './lib/tracker.ts'",
            hash="0" * 64,
            content_hash=None,
            blob=None,
            dependencies=self.dependencies,
            verified_at=START,
            run_id=None,
            published_by=None,
            created_at=START,
            updated_at=START,
        )
        return [module] if self.lives else []


async def test_modules_are_found_beside_documentation_while_their_files_live(db: Database, team: Team):
    await db.write(put_source)
    shelf = Shelf()
    knowledge = Knowledge(db, ManualClock(), modules=shelf)
    asked: dict[str, Any] = {"project_id": team.project_id, "workspace_id": "wsp_1", "user_id": "usr_1"}
    answer = await knowledge.search("open issues", package="npm:other", **asked)
    (hit,) = answer.items
    assert (hit.type, hit.heading) == ("module", "lib/tracker.ts")
    assert hit.usage == "import { openIssues } from './lib/tracker.ts'"
    assert {hit.type for hit in (await knowledge.search("open issues", **asked)).items} == {"module", "doc"}
    shelf.lives = False
    assert {hit.type for hit in (await knowledge.search("open issues", **asked)).items} == {"doc"}
    assert shelf.asked == [("wsp_1", "usr_1")] * 3


class Judge(Reranker):
    """A re-ranker that prefers what says so, or fails."""

    def __init__(self) -> None:
        self.fails = False

    async def scores(self, query: str, documents: Sequence[str]) -> list[float]:
        if self.fails:
            raise RerankFailed("it did not answer within 3 seconds")
        return [0.9 if "pages of fifty" in document else 0.1 for document in documents]


async def test_a_reranker_has_the_last_word_and_without_it_the_order_stays(db: Database, team: Team):
    await db.write(put_source)
    judge = Judge()
    knowledge = Knowledge(db, ManualClock(), reranker=judge)
    judged = await knowledge.search("create an issue", project_id=team.project_id)
    assert (judged.method, headings(judged)) == ("words+reranked", ["Issues › List", "Issues › Create"])
    assert judged.items[0].scores.reranked == judged.items[0].score == 0.9
    judge.fails = True
    kept = await knowledge.search("create an issue", project_id=team.project_id)
    assert (kept.method, headings(kept)) == ("words", ["Issues › Create", "Issues › List"])
    assert "did not answer within 3 seconds" in kept.note


async def test_packages_are_listed_with_what_is_known_of_them(db: Database, team: Team):
    await db.write(put_source, fetched_at=START - timedelta(days=3))
    await db.write(put_source, state="failed", version="2.2.0", texts=TEXTS[:1])
    (one,) = await Knowledge(db, ManualClock()).packages(team.project_id)
    assert (one.package, one.versions) == ("npm:tracker", ["2.1.0", "2.2.0"])
    assert (one.sources, one.passages, one.failed) == (2, 5, 1)
    assert one.fetched_at == iso(START - timedelta(days=3))


async def test_own_texts_can_be_ranked_with_stored_vectors(db: Database, team: Team, embedder: HashingEmbedder):
    texts = [(text_hash(text), text) for text in ("fetched the open issues", "made the header blue")]

    def put(tx: Tx) -> None:
        vector = np.zeros(embedder.dimensions, "<f2").tobytes()
        tx.insert(vectors, model=embedder.model, hash=texts[1][0], vector=vector, created_at=tx.now)

    await db.write(put)
    for knowledge in (Knowledge(db, ManualClock()), Knowledge(db, ManualClock(), embedder=embedder)):
        first, second = await knowledge.rank("show issues again", texts)
        assert first > second >= 0
        assert await knowledge.rank("  ", texts) == [0, 0]
    assert await knowledge.rank("anything", []) == []


async def test_indexes_are_made_before_anybody_asks_and_those_of_gone_sources_go(
    db: Database, team: Team, tmp_path: Path
):
    folder = tmp_path / "search"
    source_id = await db.write(put_source)
    folder.mkdir()
    (folder / "src_gone.npz").write_bytes(b"")
    knowledge = Knowledge(db, ManualClock(), folder=folder)
    async with anyio.create_task_group() as tasks:
        await tasks.start(knowledge.run)
        assert [file.name for file in folder.iterdir()] == [f"{source_id}.npz"]
        tasks.cancel_scope.cancel()


async def test_many_vectors_are_compared_in_parts_with_the_result_of_the_whole(
    db: Database, team: Team, embedder: HashingEmbedder, monkeypatch: pytest.MonkeyPatch
):
    await db.write(put_source)
    await db.write(put_source, "pypi:hooks", [("Hooks", "webhooks for Python", ""), ("More", "of hooks", "")])
    await embed_all(db, embedder)
    asked = {"query": "webhooks and issues", "project_id": team.project_id, "limit": 5}
    whole = await _scored(Knowledge(db, ManualClock(), embedder=embedder), asked)
    monkeypatch.setattr(search, "SMALL", 1)
    monkeypatch.setattr(comparing, "SMALL", 1)
    monkeypatch.setattr(search, "BLOCK", 1)
    assert await _scored(Knowledge(db, ManualClock(), embedder=embedder), asked) == whole


class Renewed(HashingEmbedder):
    """The same service under the same name, after its vectors became shorter."""

    def __init__(self) -> None:
        super().__init__(64)
        self.model = HashingEmbedder().model


@pytest.mark.parametrize("most_bytes", [index_cache.MAX_BYTES, 600])
async def test_vectors_of_another_length_count_as_none_and_the_answer_says_so(
    db: Database, team: Team, embedder: HashingEmbedder, most_bytes: int
):
    await db.write(put_source)
    await embed_all(db, embedder)
    knowledge = Knowledge(db, ManualClock(), embedder=Renewed(), most_bytes=most_bytes)
    for _ in range(2):
        answer = await knowledge.search("webhooks", project_id=team.project_id)
        assert (answer.method, answer.note) == ("words", search.NO_VECTORS)
        assert headings(answer) == ["Webhooks"]


async def test_an_embedder_whose_vectors_change_their_length_has_everything_embedded_again(
    db: Database, team: Team, embedder: HashingEmbedder
):
    await db.write(put_source)
    await embed_all(db, embedder)
    knowledge = Knowledge(db, ManualClock(), embedder=embedder)
    before = await knowledge.search("webhooks", project_id=team.project_id)
    renewed = Renewed()
    knowledge._embedder = renewed  # the same service, at a later hour
    vectors = VectorKeeper(db, ManualClock(), renewed)
    assert await vectors.embed_missing() == 0
    between = await knowledge.search("webhooks of issues", project_id=team.project_id)
    assert (between.method, between.note) == ("words", search.NO_VECTORS)
    await knowledge._prepare()  # as `run` does now: the search woke it
    assert await vectors.embed_missing() == len(TEXTS)
    knowledge._hear(store.VECTORS)
    after = await knowledge.search("webhooks", project_id=team.project_id)
    assert (before.method, after.method, after.note) == ("words+vectors", "words+vectors", "")
    assert headings(after)[0] == headings(before)[0] == "Webhooks"
    await knowledge._prepare()
    assert await vectors.embed_missing() == 0


async def test_an_embedder_that_cannot_decide_on_a_length_does_not_have_all_embedded_every_time(
    db: Database, team: Team, embedder: HashingEmbedder
):
    await db.write(put_source)
    await embed_all(db, embedder)
    clock, other = ManualClock(), Renewed()
    knowledge = Knowledge(db, clock, embedder=embedder)
    await knowledge.search("webhooks", project_id=team.project_id)
    await knowledge._prepare()
    knowledge._embedder = other
    await knowledge.search("issues", project_id=team.project_id)
    await knowledge._prepare()
    assert await VectorKeeper(db, clock, other).embed_missing() == 0
    clock.advance(search.MEND_EVERY_S)
    await knowledge.search("keys", project_id=team.project_id)
    await knowledge._prepare()
    assert await VectorKeeper(db, clock, other).embed_missing() == len(TEXTS)


async def test_whatever_breaks_among_the_vectors_words_are_searched_and_that_is_said(
    db: Database,
    team: Team,
    embedder: HashingEmbedder,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
):
    def breaks(*_: object) -> None:
        raise ValueError("operands could not be broadcast")

    await db.write(put_source)
    await embed_all(db, embedder)
    monkeypatch.setattr(search, "near", breaks)
    answer = await Knowledge(db, ManualClock(), embedder=embedder).search("webhooks", project_id=team.project_id)
    assert (answer.method, answer.note, headings(answer)) == ("words", search.NOT_COMPARED, ["Webhooks"])
    assert "vectors not compared" in caplog.text


@pytest.mark.parametrize(("at", "byte"), [(10, 99), (8, 1)], ids=["packed-unknown", "locked"])
async def test_an_index_file_that_is_damaged_in_any_way_is_made_anew(
    db: Database, team: Team, tmp_path: Path, at: int, byte: int
):
    source_id = await db.write(put_source)
    knowledge = Knowledge(db, ManualClock(), folder=tmp_path)
    await knowledge.search("webhooks", project_id=team.project_id)
    kept = tmp_path / f"{source_id}.npz"
    whole = bytearray(kept.read_bytes())
    for start in (one.start() for one in re.finditer(rb"PK\x01\x02", bytes(whole))):
        whole[start + at] = byte
    kept.write_bytes(bytes(whole))
    await Knowledge(db, ManualClock(), folder=tmp_path)._prepare()
    assert saved.load(tmp_path, source_id, 1) is not None


async def test_one_source_whose_index_cannot_be_made_does_not_cost_the_others_theirs(
    db: Database, team: Team, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    bad = await db.write(put_source)
    good = await db.write(put_source, "pypi:hooks", [("Hooks", "webhooks for Python", "")])
    load = saved.load

    def breaks(folder: Path, source_id: str, revision: int) -> saved.Segment | None:
        if source_id == bad:
            raise RuntimeError("nobody thought of this")
        return load(folder, source_id, revision)

    monkeypatch.setattr(saved, "load", breaks)
    folder = tmp_path / "search"
    knowledge = Knowledge(db, ManualClock(), folder=folder)
    async with anyio.create_task_group() as tasks:
        await tasks.start(knowledge.run)
        assert [file.stem for file in folder.iterdir()] == [good]
        tasks.cancel_scope.cancel()
    assert "nobody thought of this" in caplog.text


async def test_vectors_are_read_before_anybody_asks_where_there_is_room(
    db: Database, team: Team, embedder: HashingEmbedder
):
    await db.write(put_source)
    await embed_all(db, embedder)
    size = {}
    for most_bytes in (index_cache.MAX_BYTES, 10_000):
        knowledge = Knowledge(db, ManualClock(), embedder=embedder, most_bytes=most_bytes)
        async with anyio.create_task_group() as tasks:
            await tasks.start(knowledge.run)
            size[most_bytes] = knowledge._shelves.size_bytes
            tasks.cancel_scope.cancel()
    assert size[index_cache.MAX_BYTES] - size[10_000] == len(TEXTS) * embedder.dimensions * 4
    assert embedder.texts == []


async def test_small_indexes_stay_in_their_files_until_somebody_searches(
    db: Database, team: Team, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    source_id = await db.write(put_source)
    await Knowledge(db, ManualClock(), folder=tmp_path)._prepare()
    assert saved.is_kept(tmp_path, source_id, 1)
    loaded: list[str] = []
    load = saved.load

    def counted(folder: Path, source_id: str, revision: int) -> saved.Segment | None:
        loaded.append(source_id)
        return load(folder, source_id, revision)

    monkeypatch.setattr(saved, "load", counted)
    knowledge = Knowledge(db, ManualClock(), folder=tmp_path)
    await knowledge._prepare()
    assert loaded == []
    assert headings(await knowledge.search("webhooks", project_id=team.project_id)) == ["Webhooks"]
    assert loaded == [source_id]

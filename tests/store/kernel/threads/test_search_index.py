"""Search answers alike on both databases, whatever is typed, and its index can be made anew."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outlast.db.database import Database, Tx
from outlast.kernel.threads import message_store, store
from outlast.kernel.threads import search_index as search
from outlast.kernel.threads.tables import search_entries
from outlast.kernel.threads.thread_list import search_threads
from tests.factories import make_project, make_thread, make_user, say

TEXTS = {
    "boats": ["The Quick brown fox", "sails a boat to São Paulo", "boat, boats and boating"],
    "trains": ["Trains run on time", "see src/outlast/app.py and run_time", "東京へ行く"],
    "planes": ["A quick flight", "100% sure; SELECT * FROM planes -- '\"", "final words"],
}
ENTRIES = sa.select(search_entries.c.thread_id, search_entries.c.words)
QUERIES = {
    "quick": {"boats", "planes"},
    "qui": {"boats", "planes"},
    "QUICK fox": {"boats"},
    "fox quick": {"boats"},
    "quick train": set(),
    "sao paulo": {"boats"},
    "São": {"boats"},
    "app.py": {"trains"},
    "outlast app": {"trains"},
    "run_t": {"trains"},
    "東京": {"trains"},
    "100": {"planes"},
    "boats": {"boats"},
    "uick": set(),
    "thr": set(),
    "": set(),
    "' OR 1=1 --": set(),
    '"unbalanced': set(),
    "*": set(),
    "NEAR(fox, 2)": set(),
    "fox AND": set(),
    "words:fox": set(),
}


def prepare(tx: Tx) -> tuple[str, dict[str, str]]:
    ada = make_user(tx)
    project_id = make_project(tx, ada)
    made = {title: make_thread(tx, project_id, ada, *texts, title=title) for title, texts in TEXTS.items()}
    make_thread(tx, make_project(tx, ada, "Other"), ada, "A quick fox in another project")
    return project_id, made


def found(tx: Tx, project_id: str, query: str, names: dict[str, str]) -> set[str]:
    by_id = {thread_id: name for name, thread_id in names.items()}
    return {by_id[item.id] for item in search_threads(tx, project_id, query, None, 50).items}


async def test_every_word_must_begin_a_word_of_one_message_or_title(db: Database) -> None:
    project_id, made = await db.write(prepare)
    answers = {query: await db.read(found, project_id, query, made) for query in QUERIES}
    assert answers == QUERIES


async def test_a_hit_shows_the_newest_message_or_the_title(db: Database) -> None:
    project_id, _ = await db.write(prepare)
    page = await db.read(search_threads, project_id, "boat", None, 10)
    match = page.items[0].match
    assert match is not None
    assert (match.snippet, match.message_id) == ("boats", None)
    page = await db.read(search_threads, project_id, "outlast", None, 10)
    match = page.items[0].match
    assert match is not None
    assert match.snippet == "see src/outlast/app.py and run_time"
    assert match.message_id == (await db.read(message_store.list_messages, page.items[0].id))[0][1].id


async def test_archived_and_renamed_threads_are_found_and_deleted_ones_are_not(db: Database) -> None:
    project_id, made = await db.write(prepare)
    await db.write(store.set_status, made["boats"], "archived")
    await db.write(store.rename, made["trains"], project_id, "Locomotives")
    await db.write(store.delete_thread, made["planes"])
    assert await db.read(found, project_id, "fox", made) == {"boats"}
    assert await db.read(found, project_id, "locomo", made) == {"trains"}
    assert await db.read(found, project_id, "flight", made) == set()


async def test_results_come_in_pages(db: Database) -> None:
    project_id, _made = await db.write(prepare)
    first = await db.read(search_threads, project_id, "quick", None, 1)
    assert first.next is not None
    second = await db.read(search_threads, project_id, "quick", first.next, 1)
    assert second.next is None
    assert first.items[0].id != second.items[0].id


async def test_the_deleted_index_is_rebuilt_to_the_same_answers(db: Database) -> None:
    project_id, made = await db.write(prepare)
    before = {query: await db.read(found, project_id, query, made) for query in QUERIES}
    rows = await db.read(lambda tx: list(map(tuple, tx.execute(ENTRIES))))

    await db.write(lambda tx: tx.execute(sa.delete(search_entries)).rowcount)
    assert await db.read(found, project_id, "quick", made) == set()

    await db.write(search.mend_index)
    after_id, count = await db.write(search.rebuild, "", 3)
    assert after_id is not None
    assert await db.write(search.rebuild, after_id, 3) == (None, len(rows) - count)
    after = {query: await db.read(found, project_id, query, made) for query in QUERIES}
    again = await db.read(lambda tx: list(map(tuple, tx.execute(ENTRIES))))
    assert after == before
    assert sorted(again) == sorted(rows)


async def test_a_broken_index_is_mended_and_entries_that_are_there_are_replaced(db: Database) -> None:
    project_id, made = await db.write(prepare)
    wrong = sa.update(search_entries).values(words="something else")
    await db.write(lambda tx: tx.execute(wrong).rowcount)
    if db.dialect == "sqlite":
        await db.write(lambda tx: tx.execute(sa.text("DELETE FROM search_words_data")).rowcount)
    await db.write(search.mend_index)
    assert (await db.write(search.rebuild))[0] is None
    assert await db.read(found, project_id, "quick", made) == {"boats", "planes"}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(st.text())
async def test_nothing_that_is_typed_or_written_breaks_it(db: Database, text: str) -> None:
    """The text is both a message and a query: it finds itself, or has no words."""

    def run(tx: Tx) -> None:
        ada = make_user(tx)
        project_id = make_project(tx, ada)
        thread_id = make_thread(tx, project_id, ada, title="t")
        written = text.replace("\x00", "")  # refused in messages, but may be typed
        say(tx, thread_id, ada, written)
        search_threads(tx, project_id, text, None, 10)
        hits = [item.id for item in search_threads(tx, project_id, written, None, 10).items]
        assert hits == ([thread_id] if search.words_of(written) else [])

    await db.write(run)


@pytest.mark.parametrize("size", [2_000_000])
async def test_a_very_long_message_is_indexed_as_far_as_the_limit(db: Database, size: int) -> None:
    def run(tx: Tx) -> None:
        ada = make_user(tx)
        project_id = make_project(tx, ada)
        make_thread(tx, project_id, ada, "needle " + "".join(chr(0x4E00 + n % 20_000) for n in range(size)))
        make_thread(tx, project_id, ada, "x" * size)
        assert len(search_threads(tx, project_id, "needle", None, 10).items) == 1
        assert len(search_threads(tx, project_id, "x" * 100, None, 10).items) == 1

    await db.write(run)

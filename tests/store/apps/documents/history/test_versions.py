"""Versions of documents on both databases: any state again, restored, told to viewers."""

from __future__ import annotations

import anyio
import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outlast.apps.documents import store
from outlast.apps.documents.content.markdown_render import join
from outlast.apps.documents.content.tree import Tree
from outlast.apps.documents.edits import write as writing
from outlast.apps.documents.edits.apply import apply
from outlast.apps.documents.edits.write import Author, Committed
from outlast.apps.documents.history import versions as history
from outlast.apps.documents.shapes import Change
from outlast.apps.documents.tables import blocks, document_versions, documents, sections
from outlast.base.clock import SystemClock
from outlast.base.errors import NotFound
from outlast.db.connect import open_database
from outlast.db.database import Database, Tx
from outlast.kernel.streams.log_store import read_all
from tests.document_changes import changes_of, delete_section, edit_block, insert_block, insert_section, move_block
from tests.documents import SETTINGS, Desk


def words_in(tree: Tree) -> int:
    headings = sum(len(section.heading.split()) for section in tree.sections)
    return headings + sum(len(block.markdown.split()) for block in tree.blocks())


def text(tree: Tree) -> str:
    return join((section, section.blocks) for section in tree.sections)


async def restore(desk: Desk, version: int) -> Committed:
    def run(tx: Tx) -> Committed:
        row = store.hold(tx, desk.document_id)
        now, then = store.tree(tx, desk.document_id), history.tree_at(tx, desk.document_id, version)
        author = Author("restore", desk.team.editor.user_id, summary="Back")
        return writing.commit_tree(tx, row, now, then, author, SETTINGS)

    return await desk.db.write(run)


async def test_any_version_is_what_the_document_was(db: Database):
    desk = await Desk.open(db)
    states: dict[int | None, Tree] = {0: Tree(desk.document_id, 0), 1: await desk.tree()}
    for number in range(120):
        home = (await desk.tree()).sections[number % 2]
        last = home.blocks[-1]
        change: Change = insert_block(home.id, last.id, f"line {number}")
        if number % 3 == 1:
            change = edit_block(last.id, f"other {number}", last.markdown)
        elif number % 7 == 2:
            change = move_block(last.id, home.id, None)
        made = await desk.write(change)
        states[made.version] = await desk.tree()
    for version, state in states.items():
        assert await desk.tree(version) == state
    kept = await db.read(lambda tx: tx.execute(document_versions.select().order_by(document_versions.c.version)).all())
    assert [row.version for row in kept if row.state is not None] == [50, 100]
    with pytest.raises(NotFound):
        await desk.tree(999)


@given(data=st.data())
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_what_is_stored_is_what_the_changes_make_and_can_be_taken_back(sqlite_url: str, tmp_path, data: st.DataObject):
    anyio.run(_check_any_changes, sqlite_url, tmp_path, data)


async def _check_any_changes(sqlite_url: str, folder, data: st.DataObject) -> None:
    db = open_database(sqlite_url, folder, SystemClock())
    try:
        desk = await Desk.open(db)
        states = [await desk.tree()]
        for _ in range(data.draw(st.integers(3, 15))):
            change = data.draw(changes_of(states[-1]))
            since = states[-1].version
            await desk.write(change)
            now = await desk.tree()
            assert text(now) == text(apply(states[-1], [change]).tree)
            check_followed(states[-1], now, await db.read(_news, desk.document_id, since))
            if now.version != since:
                states.append(now)
        words = (await db.read(store.document_of, desk.document_id)).words
        assert words == words_in(states[-1])
        for state in states:
            assert await desk.tree(state.version) == state
        chosen = data.draw(st.sampled_from(states))
        await restore(desk, chosen.version)
        assert text(await desk.tree()) == text(chosen)
    finally:
        await db.aclose()


def _news(tx: Tx, document_id: str, since: int):
    return history.changes_since(tx, store.document_of(tx, document_id), since)


def check_followed(before: Tree, after: Tree, told) -> None:
    """A viewer who has `before` and hears this has `after`."""
    order = [one.id for one in before.sections] if told.section_order is None else told.section_order
    heads = {one.id: one.heading for one in before.sections} | {one.id: one.heading for one in told.sections}
    texts = {one.id: one.markdown for one in before.blocks()} | {one.id: one.markdown for one in told.blocks}
    below = {one.id: [block.id for block in one.blocks] for one in before.sections} | told.block_order
    seen = [(key, heads[key], [(one, texts[one]) for one in below.get(key, [])]) for key in order]
    assert seen == [
        (one.id, one.heading, [(block.id, block.markdown) for block in one.blocks]) for one in after.sections
    ]
    assert not set(told.removed) & {*order, *(block.id for block in after.blocks())}


async def test_a_restored_version_is_a_new_one_with_the_old_ids_and_editors(db: Database):
    desk = await Desk.open(db)
    first = await desk.tree()
    await desk.write(delete_section(first.sections[0].id), by=desk.team.owner)
    await desk.edit((await desk.section("Risks")).blocks[0], "There are four risks.", by=desk.team.editor)
    made = await restore(desk, 1)
    now = await desk.tree()
    assert made.version == now.version == 4
    assert text(now) == text(first)
    assert [block.id for block in now.blocks()] == [block.id for block in first.blocks()]
    assert [block.editor_id for block in now.blocks()] == [block.editor_id for block in first.blocks()]
    line = await db.read(history.version_of, desk.document_id, 4)
    assert (line.kind, line.summary, line.by_name) == ("restore", "Back", "Emil")
    assert set(line.sections) == {first.sections[0].id}


async def test_restoring_what_the_document_says_makes_no_version(db: Database):
    desk = await Desk.open(db)
    assert (await restore(desk, 1)).version is None
    assert (await desk.tree()).version == 1


async def test_a_change_writes_only_what_differs_and_says_who_wrote_it(db: Database):
    desk = await Desk.open(db)
    one, two, *_ = (await desk.tree()).blocks()
    await desk.edit(one, "Shorter.", by=desk.team.editor)
    now = list((await desk.tree()).blocks())
    assert (now[0].version, now[0].editor_id, now[0].editor_kind) == (2, desk.team.editor.user_id, "person")
    assert (now[1], now[1].version) == (two, 1)
    await desk.write(move_block(now[0].id, now[0].section_id, now[1].id), by=desk.team.owner)
    assert [len(changes) for changes in await db.read(history.changes_between, desk.document_id, 2, 3)] == [1]
    after = next(one for one in (await desk.tree()).blocks() if one.id == now[0].id)
    assert (after.version, after.editor_id) == (3, desk.team.editor.user_id)


async def test_each_version_is_told_in_the_projects_log(db: Database):
    desk = await Desk.open(db)
    await desk.edit(await desk.block(0), "Shorter.")
    lines = [orjson.loads(line) for _, line in await db.read(read_all, desk.team.project_id)]
    told = [line for line in lines if line["event"] in ("version.created", "document.updated")][-2:]
    assert [line["event"] for line in told] == ["version.created", "document.updated"]
    version = told[0]["data"]["version"]
    assert (version["version"], version["summary"]) == (2, "Changed a block in “Introduction”")
    assert told[1]["data"]["document"]["version"] == 2
    assert told[1]["data"]["document"]["words"] == words_in(await desk.tree())


async def test_a_change_of_nothing_makes_no_version_and_no_news(db: Database):
    desk = await Desk.open(db)
    before = await db.read(read_all, desk.team.project_id)
    block = await desk.block(0)
    made = await desk.edit(block, block.markdown)
    assert made.version is None
    assert await db.read(read_all, desk.team.project_id) == before


async def test_two_who_write_at_the_same_moment_make_two_versions(db: Database):
    desk = await Desk.open(db)
    first, second, *_ = (await desk.tree()).blocks()
    async with anyio.create_task_group() as group:
        group.start_soon(desk.edit, first, "One.")
        group.start_soon(desk.edit, second, "Two.")
    assert [block.markdown for block in (await desk.tree()).blocks()][:2] == ["One.", "Two."]
    lines, _ = await db.read(history.list_versions, desk.document_id, None, 10)
    assert [line.version for line in lines] == [3, 2, 1]


async def test_versions_are_listed_page_by_page(db: Database):
    desk = await Desk.open(db)
    for number in range(4):
        await desk.write(insert_section(None, f"S{number}"))
    first, more = await db.read(history.list_versions, desk.document_id, None, 2)
    assert ([line.version for line in first], more) == ([5, 4], 4)
    rest, end = await db.read(history.list_versions, desk.document_id, more, 10)
    assert ([line.version for line in rest], end) == ([3, 2, 1], None)


async def test_a_deleted_document_leaves_nothing_behind(db: Database):
    desk = await Desk.open(db)
    await db.write(store.delete, desk.document_id)

    def rows(tx: Tx) -> int:
        return sum(len(tx.execute(table.select()).all()) for table in (documents, sections, blocks, document_versions))

    assert await db.read(rows) == 0


async def test_a_text_with_many_headings_takes_no_more_statements_than_a_short_one(
    db: Database, monkeypatch: pytest.MonkeyPatch
):
    desk = await Desk.open(db)
    ran: list[object] = []

    def count_calls_of(name: str) -> None:
        right = getattr(Tx, name)

        def counted(*args: object) -> object:
            ran.append(args)
            return right(*args)

        monkeypatch.setattr(Tx, name, counted)

    for name in ("execute", "row", "rows", "insert_many"):
        count_calls_of(name)
    sizes = []
    for count in (5, 50):
        ran.clear()
        text = "".join(f"# h{number}\n\nx\n\n" for number in range(count))
        last = (await desk.tree()).sections[-1].id
        ran.clear()
        await desk.write(insert_block(last, None, text))
        sizes.append(len(ran))
    assert abs(sizes[1] - sizes[0]) <= 4
    tree = await desk.tree()
    assert [one.heading for one in tree.sections[-50:]] == [f"h{number}" for number in range(50)]

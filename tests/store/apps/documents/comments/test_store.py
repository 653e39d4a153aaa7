"""Comments in both databases, and where they are after the document changed."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outlast.apps.documents import store
from outlast.apps.documents.comments import store as comments
from outlast.apps.documents.comments.comment_anchors import new_anchor
from outlast.apps.documents.comments.quotes import Text, find_again
from outlast.apps.documents.comments.shapes import CommentData, Quote
from outlast.apps.documents.edits import write as writing
from outlast.apps.documents.edits.write import Author
from outlast.apps.documents.history import versions
from outlast.apps.documents.shapes import Change
from outlast.base.errors import NotFound
from outlast.db.database import Database, Tx
from outlast.kernel.streams.log_store import read_all
from tests.document_changes import delete_block, delete_section, edit_block, insert_block, move_block
from tests.documents import SETTINGS, Desk, replacing

QUOTE = Quote(text="nobody reads", prefix="is long and ", suffix=" it.")


def put(
    tx: Tx,
    desk: Desk,
    body: str,
    *,
    section_id: str | None = None,
    block_id: str | None = None,
    quote: Quote | None = None,
    parent_id: str | None = None,
) -> str:
    """A comment of the editor's."""
    content = comments.content_of(tx, desk.document_id)
    return comments.add(
        tx,
        document_id=desk.document_id,
        project_id=desk.team.project_id,
        by=desk.team.editor.user_id,
        body=body,
        anchor=new_anchor(content, section_id, block_id, quote),
        parent_id=parent_id,
    )


async def at(desk: Desk, comment_id: str) -> CommentData:
    return await desk.db.read(comments.comment_data, comment_id)


async def restore(desk: Desk, version: int) -> None:
    def run(tx: Tx) -> None:
        row = store.hold(tx, desk.document_id)
        now, then = store.tree(tx, desk.document_id), versions.tree_at(tx, desk.document_id, version)
        writing.commit_tree(tx, row, now, then, Author("restore", desk.team.editor.user_id), SETTINGS)

    await desk.db.write(run)


async def test_a_restore_brings_comments_back_to_their_place(db: Database) -> None:
    desk = await Desk.open(db)
    block = await desk.block(0)
    on_quote = await db.write(lambda tx: put(tx, desk, "Who?", block_id=block.id, quote=QUOTE))
    on_block = await db.write(lambda tx: put(tx, desk, "Why?", block_id=block.id))
    await desk.write(delete_section(block.section_id))
    assert [(one.orphaned, one.section_id) for one in (await at(desk, on_quote), await at(desk, on_block))] == [
        (True, None),
        (True, None),
    ]
    await restore(desk, 1)
    for comment_id in (on_quote, on_block):
        back = await at(desk, comment_id)
        assert (back.orphaned, back.block_id, back.section_id) == (False, block.id, block.section_id)


async def test_a_quote_survives_a_merge_and_an_acceptance(db: Database) -> None:
    desk = await Desk.open(db)
    block = await desk.block(0)
    made = await db.write(lambda tx: put(tx, desk, "Who?", block_id=block.id, quote=QUOTE))
    proposal = await desk.propose(replacing(block, "The plan is short and nobody reads it."))
    await desk.edit(block, "Today the plan is long and nobody reads it.")
    await desk.accept(proposal)
    now = await desk.block(0)
    assert now.markdown == "Today the plan is short and nobody reads it."
    place = await at(desk, made)
    assert place.quote is not None
    assert (place.quote.text, place.orphaned) == ("nobody reads", False)
    assert find_again(place.quote, now.id, [Text(now.id, now.markdown)]) is not None


async def test_an_edit_elsewhere_tells_nobody_anything_of_comments(db: Database) -> None:
    desk = await Desk.open(db)
    first, second = await desk.block(0), await desk.block(1)
    await db.write(lambda tx: put(tx, desk, "Who?", block_id=first.id, quote=QUOTE))
    await desk.edit(second, "Other facts.")
    await desk.edit(first, first.markdown + " Really.")
    lines = await db.read(read_all, desk.team.project_id)
    assert not [line for _, line in lines if b'"comment.updated"' in line]


async def test_a_comment_is_resolved_once_and_opened_again(db: Database) -> None:
    desk = await Desk.open(db)
    made = await db.write(lambda tx: put(tx, desk, "Who?"))
    by = desk.team.owner.user_id
    assert [await db.write(comments.set_status, made, "resolved", by) for _ in range(2)] == [True, False]
    assert (await at(desk, made)).resolved_by_name == "Olga"
    assert not await db.write(comments.set_status, "cmt_none", "resolved", by)
    assert [await db.write(comments.set_status, made, "open", by) for _ in range(2)] == [True, False]
    counts = (await db.read(store.document_data, desk.document_id)).open_comments
    assert counts == 1


async def test_lists_go_on_where_they_ended(db: Database) -> None:
    desk = await Desk.open(db)

    def run(tx: Tx) -> list[str]:
        first = put(tx, desk, "0")
        return [first, *(put(tx, desk, str(number), parent_id=first) for number in range(1, 5))]

    ids = await db.write(run)
    found, following = await db.read(comments.list_comments, desk.document_id, "open", None, 3)
    assert ([one.id for one in found], following) == (ids[:3], ids[2])
    found, following = await db.read(comments.list_comments, desk.document_id, "open", following, 3)
    assert ([one.id for one in found], following) == (ids[3:], None)
    assert await db.read(comments.answers_to, ids[0]) == ids[1:]


async def test_comments_go_with_their_document_and_answers_with_their_comment(db: Database) -> None:
    desk = await Desk.open(db)

    def run(tx: Tx) -> tuple[str, str]:
        first = put(tx, desk, "0")
        answer = put(tx, desk, "1", parent_id=first)
        comments.delete(tx, comments.hold(tx, first), desk.team.owner.user_id)
        return answer, put(tx, desk, "2")

    answer, other = await db.write(run)
    await db.write(store.delete, desk.document_id)
    for comment_id in (answer, other):
        with pytest.raises(NotFound):
            await at(desk, comment_id)


moves = st.lists(st.tuples(st.sampled_from("eidmr"), st.integers(0, 9), st.integers(0, 9)), max_size=6)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(moves)
async def test_whatever_happens_to_the_text_a_comment_is_at_its_quote_or_says_that_it_is_lost(
    db: Database, doings: list[tuple[str, int, int]]
) -> None:
    """Edits, new and deleted blocks, moves and restores in any order: a quote that is still in the document is either
    found, or told to be lost; and one that is found stands where the comment says."""
    desk = await Desk.open(db)
    block = await desk.block(0)
    made = await db.write(lambda tx: put(tx, desk, "Who?", block_id=block.id, quote=QUOTE))
    for kind, one, other in doings:
        tree = await desk.tree()
        every, homes = list(tree.blocks()), list(tree.sections)
        if not every or not homes:
            await restore(desk, 1)
            continue
        chosen, home = every[one % len(every)], homes[other % len(homes)]
        options: dict[str, Change] = {
            "e": edit_block(chosen.id, f"({other}) {chosen.markdown} more", chosen.markdown),
            "i": insert_block(home.id, None, f"New text {one}."),
            "d": delete_block(chosen.id, chosen.markdown),
            "m": move_block(chosen.id, home.id, None),
        }
        change = options.get(kind)
        if change is None:
            await restore(desk, 1 + one % tree.version)
        else:
            await desk.write(change)
        place = await at(desk, made)
        texts = {block.id: block.markdown for block in (await desk.tree()).blocks()}
        assert place.quote is not None
        if place.orphaned:
            assert not any("long and nobody reads it" in text for text in texts.values())
        else:
            assert place.block_id is not None
            assert find_again(place.quote, place.block_id, [Text(place.block_id, texts[place.block_id])]) is not None

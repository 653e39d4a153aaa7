"""Whatever is done in a fork, the conversation that it came from stays as it is: only what was accepted in the fork is
not open there any more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson
import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st

from outlast.apps.documents import store
from outlast.apps.documents.edits import write as writing
from outlast.apps.documents.edits.write import Author
from outlast.apps.documents.proposals import new_proposals
from outlast.apps.documents.proposals import review as reviewing
from outlast.apps.documents.proposals.new_proposals import Source
from outlast.apps.documents.proposals.shapes import ProposalData
from outlast.apps.documents.proposals.store import edits_of, list_proposals, open_edits_of
from outlast.apps.documents.tables import proposals as table
from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.kernel.streams.log_store import read_all
from outlast.kernel.threads import store as threads
from outlast.kernel.threads.forks import fork_thread
from outlast.kernel.threads.message_store import add_message
from outlast.kernel.threads.tables import messages
from tests.document_changes import edit_block
from tests.documents import SETTINGS, decision_on, inserting, make_document, quick_transactions, replacing
from tests.factories import Team, make_run, say, thread_row

Transact = Callable[..., Any]
STEPS = st.lists(
    st.tuples(st.sampled_from(["say", "propose", "accept", "reject", "write", "fork"]), st.integers(0, 5)),
    min_size=1,
    max_size=12,
)


class Fork:
    """A conversation with a proposal, and a fork of it where things are done."""

    def __init__(self, tx: Tx) -> None:
        self.team = Team(tx)
        self.document_id = make_document(tx, self.team)
        self.parent_id: str = store.document_of(tx, self.document_id).thread_id
        say(tx, self.parent_id, self.team.owner, "Make it shorter.")
        blocks = list(store.tree(tx, self.document_id).blocks())
        made = self.propose(tx, self.parent_id, *[replacing(one, "Short.") for one in blocks[:2]])
        self.show(tx, self.parent_id, made)
        self.thread_id = self.fork(tx, self.parent_id)

    def propose(self, tx: Tx, thread_id: str, *edits: Any) -> ProposalData:
        run_id = make_run(tx, thread_id, self.team.owner, profile="document", status="completed", leg="ended")
        source = Source(thread_id, run_id, new_id("effect"))
        made = new_proposals.propose(tx, store.hold(tx, self.document_id), source, "Shorter", edits)
        assert isinstance(made, ProposalData)
        return made

    def show(self, tx: Tx, thread_id: str, made: ProposalData) -> None:
        part = {"type": "proposal", "id": new_id("part"), "step": 0, "proposal_id": made.id, "edits": 2}
        shown = {**part, "document_id": self.document_id, "summary": made.summary}
        message = add_message(tx, thread_id, "assistant", None, "complete", [shown])
        tx.update(table, {"id": made.id}, message_id=message.id)

    def fork(self, tx: Tx, thread_id: str) -> str:
        parent = thread_row(tx, thread_id)
        return fork_thread(tx, parent, self.team.editor, None, "Fork")

    def parent(self, tx: Tx) -> Any:
        """Everything that belongs to the parent."""
        of_parent = sa.select(messages).where(messages.c.thread_id == self.parent_id)
        proposed, _ = list_proposals(tx, table.c.thread_id == self.parent_id, "all")
        return (
            threads.thread_data(tx, self.parent_id),
            tx.execute(of_parent.order_by(messages.c.position)).all(),
            proposed,
            read_all(tx, self.parent_id),
        )

    def do(self, tx: Tx, step: str, number: int) -> None:
        blocks = list(store.tree(tx, self.document_id).blocks())
        block, user_id = blocks[number % len(blocks)], self.team.editor.user_id
        still = open_edits_of(tx, self.document_id, self.thread_id)
        match step:
            case "say":
                say(tx, self.thread_id, self.team.editor, f"Say {number}.")
            case "propose":
                made = self.propose(
                    tx, self.thread_id, replacing(block, f"Text {new_id('block')}."), inserting(block, "New.")
                )
                self.show(tx, self.thread_id, made)
            case "accept" | "reject" if still:
                edit = still[number % len(still)]
                current = next((one.markdown for one in blocks if one.id == edit.block_id), None)
                verdict = decision_on(edit.id, "accept" if step == "accept" else "reject", old=current)
                reviewing.decide(tx, edit.proposal_id, [verdict], user_id, SETTINGS)
            case "write":
                document = store.hold(tx, self.document_id)
                change = edit_block(block.id, f"Written {new_id('block')}.", block.markdown)
                writing.commit(tx, document, [change], Author("edit", user_id), SETTINGS)
            case "fork":
                self.thread_id = self.fork(tx, self.thread_id)


@pytest.fixture
def transact(sqlite_url: str) -> Any:
    with quick_transactions(sqlite_url) as connect:

        def run(fn: Callable[..., Any], *args: Any) -> Any:
            tx = connect()
            with tx.conn.begin():
                result = fn(tx, *args)
                tx.end()
                return result

        yield run


def stays(tx: Tx, before: Any, now: Any) -> None:
    """The parent is as it was, but for edits that a copy of them ended, which was accepted; and that is told."""
    assert now[:2] == before[:2]
    assert now[3][: len(before[3])] == before[3]
    told = [orjson.loads(line)["event"] for _, line in now[3][len(before[3]) :]]
    was, is_now = ([edit for proposal in side[2] for edit in proposal.edits] for side in (before, now))
    ended = [(old, new) for old, new in zip(was, is_now, strict=True) if old != new]
    assert told == ["edit.superseded"] * len(ended)
    for old, new in ended:
        assert (old.state, new.state) == ("open", "superseded")
        (copy,) = edits_of(tx, [new.superseded_by])
        assert (copy.state, copy.applied_text, copy.block_id) == ("accepted", old.new_text, old.block_id)


def test_what_is_done_in_a_fork_ends_in_the_parent_what_was_accepted_and_changes_nothing_else(
    transact: Transact,
) -> None:
    @settings(max_examples=settings().max_examples // 2)
    @given(STEPS)
    def holds(steps: list[tuple[str, int]]) -> None:
        fork: Fork = transact(Fork)
        before = transact(fork.parent)
        for step, number in steps:
            transact(fork.do, step, number)
            transact(lambda tx: stays(tx, before, fork.parent(tx)))

    holds()

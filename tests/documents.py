"""A document with people and an agent who proposes edits, one transaction at a time: for tests of what they may do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from outlast.apps.documents import store
from outlast.apps.documents.content.tree import Block, Section, Tree
from outlast.apps.documents.edits import write as writing
from outlast.apps.documents.edits.write import Author, Committed
from outlast.apps.documents.history import versions
from outlast.apps.documents.proposals import new_proposals
from outlast.apps.documents.proposals import review as reviewing
from outlast.apps.documents.proposals import store as proposals
from outlast.apps.documents.proposals.new_proposals import Source
from outlast.apps.documents.proposals.shapes import DecidedAnswer, Decision, EditData, NamedDecision, ProposalData
from outlast.apps.documents.proposals.validation import NewEdit, Trouble
from outlast.apps.documents.shapes import Change
from outlast.base.ids import new_id
from outlast.db.database import Database, Tx
from outlast.db.prepared import PreparedStatements
from outlast.db.sqlite import SqliteDriver
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.settings import Settings
from tests.document_changes import delete_block, edit_block, insert_section
from tests.factories import Team, make_run, make_thread

SETTINGS = Settings()
TEXT = {
    "Introduction": "The plan is long and nobody reads it.\n\nIt has teh facts.\n\nIt ends here.",
    "Risks": "There are three risks.\n\n- money\n- time\n- people",
}


def make_document(tx: Tx, /, team: Team, text: dict[str, str] | None = None) -> str:
    """A document of the team's owner with these sections, at version 1."""
    document_id = new_id("document")
    anchor = {"type": "document", "id": document_id, "document_id": document_id}
    thread_id = make_thread(tx, team.project_id, team.owner, profile="document", anchor=anchor)
    store.add(tx, document_id, team.project_id, team.owner.user_id, thread_id=thread_id, title="Report")
    sections: list[Change] = []
    for heading, markdown in (TEXT if text is None else text).items():
        after = f"ref {len(sections) - 1}" if sections else None
        sections.append(insert_section(after, heading, 2, markdown, f"ref {len(sections)}"))
    if sections:
        document = store.hold(tx, document_id)
        writing.commit(tx, document, sections, Author("created", team.owner.user_id), SETTINGS)
    return document_id


def make_documents(tx: Tx, /, team: Team) -> dict[str, str]:
    """A document with one of everything in it: the ids by noun."""
    document_id = make_document(tx, team)
    tree = store.tree(tx, document_id)
    block = next(tree.blocks())
    thread_id = store.document_of(tx, document_id).thread_id
    run_id = make_run(tx, thread_id, team.owner, profile="document", status="completed", leg="ended")
    source = Source(thread_id, run_id, new_id("effect"))
    proposal = new_proposals.propose(
        tx, store.hold(tx, document_id), source, "Shorter", [replacing(block, "The plan.")]
    )
    assert isinstance(proposal, ProposalData)
    return {
        "document_id": document_id,
        "section_id": block.section_id,
        "block_id": block.id,
        "proposal_id": proposal.id,
        "edit_id": proposal.edits[0].id,
    }


@contextmanager
def quick_transactions(url: str) -> Iterator[Callable[[], Tx]]:
    """Transactions of a migrated SQLite file without an event loop or the wait for the disk, for generated cases: each
    call gives a new one, which is not begun yet."""
    engine = sa.create_engine(url, poolclass=sa.StaticPool)

    @sa.event.listens_for(engine, "connect")
    def quickly(raw: Any, _record: Any) -> None:
        raw.execute("PRAGMA synchronous = OFF")
        raw.execute("PRAGMA foreign_keys = ON")

    with engine.connect() as conn:
        prepared = PreparedStatements(engine.dialect, SqliteDriver())
        yield lambda: Tx(conn, datetime.now(UTC), prepared=prepared)
    engine.dispose()


@dataclass
class Desk:
    """A document on a database. `owner` and `editor` write, an agent of the document's thread proposes."""

    db: Database
    team: Team
    document_id: str
    thread_id: str

    @staticmethod
    async def open(db: Database, text: dict[str, str] | None = None) -> Desk:
        def make(tx: Tx) -> tuple[Team, str, str]:
            team = Team(tx)
            document_id = make_document(tx, team, text)
            return team, document_id, store.document_of(tx, document_id).thread_id

        return Desk(db, *await db.write(make))

    async def tree(self, version: int | None = None) -> Tree:
        return await self.db.read(versions.tree_at, self.document_id, version)

    async def block(self, number: int) -> Block:
        """The n-th block of the document, from 0."""
        return list((await self.tree()).blocks())[number]

    async def section(self, heading: str) -> Section:
        return next(one for one in (await self.tree()).sections if one.heading == heading)

    async def texts(self, heading: str = "Introduction") -> list[str]:
        """What a section's blocks say."""
        return [block.markdown for block in (await self.section(heading)).blocks]

    async def write(self, *changes: Change, by: Actor | None = None) -> Committed:
        """A person changes the document."""
        author = Author("edit", (by or self.team.editor).user_id)

        def commit(tx: Tx) -> Committed:
            return writing.commit(tx, store.hold(tx, self.document_id), changes, author, SETTINGS)

        return await self.db.write(commit)

    async def edit(self, block: Block, text: str, old: str | None = None, by: Actor | None = None) -> Committed:
        return await self.write(edit_block(block.id, text, block.markdown if old is None else old), by=by)

    async def delete(self, block: Block, by: Actor | None = None) -> Committed:
        return await self.write(delete_block(block.id, block.markdown), by=by)

    async def propose(
        self, *edits: NewEdit, summary: str = "Say it shorter", thread_id: str | None = None, effect_id: str = ""
    ) -> ProposalData:
        """The agent proposes; the edits must be right."""
        made = await self.try_to_propose(edits, summary=summary, thread_id=thread_id, effect_id=effect_id)
        assert isinstance(made, ProposalData), made
        return made

    async def try_to_propose(
        self, edits: Sequence[NewEdit], *, summary: str = "", thread_id: str | None = None, effect_id: str = ""
    ) -> ProposalData | tuple[Trouble, ...]:
        def run(tx: Tx) -> ProposalData | tuple[Trouble, ...]:
            thread = thread_id or self.thread_id
            run_id = make_run(tx, thread, self.team.owner, profile="document", status="completed", leg="ended")
            source = Source(thread, run_id, effect_id or new_id("effect"))
            return new_proposals.propose(tx, store.hold(tx, self.document_id), source, summary, edits)

        return await self.db.write(run)

    async def decide(self, proposal: ProposalData, *decisions: NamedDecision, by: Actor | None = None) -> DecidedAnswer:
        user_id = (by or self.team.owner).user_id
        return await self.db.write(reviewing.decide, proposal.id, decisions, user_id, SETTINGS)

    async def accept(
        self, proposal: ProposalData, *ordinals: int, by: Actor | None = None, **own: Any
    ) -> DecidedAnswer:
        """Accept edits by their numbers (none: those that are open); `text` and `old` for each."""
        now = await self.read(proposal)
        chosen = [edit for edit in now.edits if (edit.ordinal in ordinals if ordinals else edit.state == "open")]
        return await self.decide(now, *[decision_on(edit.id, "accept", **own) for edit in chosen], by=by)

    async def reject(self, proposal: ProposalData, ordinal: int) -> DecidedAnswer:
        return await self.decide(proposal, decision_on(proposal.edits[ordinal - 1].id, "reject"))

    async def read(self, proposal: ProposalData) -> ProposalData:
        return await self.db.read(proposals.proposal_data, proposal.id)

    async def edits(self, proposal: ProposalData) -> list[EditData]:
        return (await self.read(proposal)).edits


def replacing(block: Block, text: str) -> NewEdit:
    return NewEdit("replace", block_id=block.id, old_text=block.markdown, new_text=text)


def deleting(block: Block) -> NewEdit:
    return NewEdit("delete", block_id=block.id, old_text=block.markdown)


def moving(block: Block, after: Block | None, section: Section | None = None) -> NewEdit:
    return NewEdit(
        "move",
        block_id=block.id,
        after_id=None if after is None else after.id,
        section_id=None if section is None else section.id,
    )


def inserting(after: Block | Section, text: str) -> NewEdit:
    """Behind a block, or as the first text of a section."""
    if isinstance(after, Section):
        return NewEdit("insert", section_id=after.id, new_text=text)
    return NewEdit("insert", after_id=after.id, new_text=text)


def decision_on(edit_id: str, decision: Decision, text: str | None = None, old: str | None = None) -> NamedDecision:
    return NamedDecision(edit_id=edit_id, decision=decision, text=text, old=old)

"""Two people with stale views, one agent who proposes, locks and restored versions, in any order, on the real store.

Every word that anybody writes is written once in a test, so that each word's whereabouts tell the story:

- a word that somebody's accepted change added is in the document (nothing accepted is lost),
- a word is gone only where whoever took it away had seen it (nothing unseen is overwritten),
- no word comes from nowhere, or is there twice,
- a refused change has changed nothing, and what a section's keeper keeps nobody else changes,
- what was decided stays decided, and every version can still be read as it was.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from outlast.apps.documents import section_locks as locking
from outlast.apps.documents import store
from outlast.apps.documents.content.tree import Block, Section, Tree
from outlast.apps.documents.edits import write as writing
from outlast.apps.documents.edits.write import Author
from outlast.apps.documents.history import versions
from outlast.apps.documents.proposals import new_proposals
from outlast.apps.documents.proposals import review as reviewing
from outlast.apps.documents.proposals import store as proposals
from outlast.apps.documents.proposals.new_proposals import Source
from outlast.apps.documents.proposals.shapes import EditData, NamedDecision
from outlast.apps.documents.proposals.validation import NewEdit
from outlast.apps.documents.shapes import Change
from outlast.base.errors import Conflict, EditDecided, NotFound, SectionLocked, TextChanged
from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.locks.tables import locks
from tests.document_changes import delete_block, delete_section, edit_block, edit_section, insert_block, move_block
from tests.documents import SETTINGS, decision_on, make_document, quick_transactions
from tests.factories import Team, make_run

WORD = re.compile(r"w\d+")
TEXT = {
    "w1 Begin": "w2 w3 w4 w5 w6 w7 w8.\n\nw9 w10 w11 w12\nw13 w14 w15 w16.",
    "w17 End": "- w18 w19 w20\n- w21 w22 w23\n\nw24 w25 w26 w27.",
}
FIRST_FREE = 28
_person = st.sampled_from(["owner", "editor"])
_pick = st.integers(0, 11)  # which of them, modulo how many there are
_ops = st.lists(
    st.tuples(st.sampled_from(["insert", "delete", "replace", "split", "section"]), st.integers(0, 30)),
    min_size=1,
    max_size=3,
)


def words_of(tree: Tree) -> list[str]:
    """Every word of a document, as often as it is there."""
    texts = [section.heading for section in tree.sections] + [block.markdown for block in tree.blocks()]
    return WORD.findall("\n".join(texts))


def shape_of(tree: Tree) -> list[Any]:
    """What a version says and in which order, with the ids."""
    return [
        (one.id, one.heading, one.level, [(block.id, block.markdown) for block in one.blocks]) for one in tree.sections
    ]


@dataclass
class View:
    """What a person last saw: of each block its text, of the document its version."""

    version: int
    texts: dict[str, str] = field(default_factory=dict)


class Interleaving(RuleBasedStateMachine):
    def __init__(self, connect: Callable[[], Tx]) -> None:
        super().__init__()
        self.connect = connect
        self.now = datetime(2026, 11, 22, 8, 0, tzinfo=UTC)
        self.next_word = FIRST_FREE
        self.decided: dict[str, EditData] = {}
        self.states: dict[int, list[Any]] = {}

    # --- the world

    def do(self, fn: Callable[..., Any], *args: Any, **more: Any) -> Any:
        """One transaction."""
        tx = self.connect()
        tx.now = self.now
        with tx.conn.begin():
            result = fn(tx, *args, **more)
            tx.end()
            return result

    @initialize()
    def begin(self) -> None:
        self.team: Team = self.do(Team)
        self.document_id: str = self.do(make_document, self.team, TEXT)
        self.thread_id = self.do(store.document_of, self.document_id).thread_id
        self.views = {name: self.look_now() for name in ("owner", "editor")}
        self.keep_state()

    def tree(self) -> Tree:
        tree: Tree = self.do(store.tree, self.document_id)
        return tree

    def look_now(self) -> View:
        tree = self.tree()
        return View(tree.version, {block.id: block.markdown for block in tree.blocks()})

    def actor(self, name: str) -> Actor:
        return {"owner": self.team.owner, "editor": self.team.editor}[name]

    def keep_state(self) -> None:
        tree = self.tree()
        known = self.states.setdefault(tree.version, shape_of(tree))
        assert known == shape_of(tree), "a version changed"

    def word(self) -> str:
        self.next_word += 1
        return f"w{self.next_word - 1}"

    def changed(self, text: str, ops: list[tuple[str, int]]) -> str:
        """The text after somebody worked on it."""
        for op, number in ops:
            places = list(WORD.finditer(text))
            if not places:
                return f"{text} {self.word()}".strip()
            spot = places[number % len(places)]
            before, behind = text[: spot.start()], text[spot.end() :]
            new = {
                "insert": f"{spot[0]} {self.word()}",
                "replace": self.word(),
                "split": f"{spot[0]}\n\n{self.word()}",
                "section": f"{spot[0]}\n\n## {self.word()}\n\n{self.word()}",
                "delete": "",
            }[op]
            text = before + new + behind
        return text

    def attempt(self, person: str, seen: set[str], wanted: set[str], fn: Callable[[Tx], Any]) -> Any:
        """Somebody who saw some words wants others: what came of it, or why it was refused."""
        self.now += timedelta(minutes=1)
        before, held = self.tree(), self.do(self.held_by_others, self.actor(person).user_id)
        answer: Any = None
        refused: Exception | None = None
        try:
            answer = self.do(fn)
        except (TextChanged, SectionLocked, EditDecided, NotFound) as error:
            refused = error
        if refused is not None:
            assert shape_of(self.tree()) == shape_of(before), "a refused change changed something"
            assert not isinstance(refused, SectionLocked) or held, "refused by a lock that nobody holds"
            return refused
        after = self.tree()
        was, now = words_of(before), words_of(after)
        assert len(now) == len(set(now)), f"a word is there twice: {now}"
        assert set(was) - set(now) <= seen - wanted, "somebody overwrote what they had not seen"
        assert wanted - seen <= set(now), "an accepted word is lost"
        assert set(now) <= set(was) | (wanted - seen), "a word came from nowhere"
        for section_id in held:
            assert self.kept(before, section_id) == self.kept(after, section_id), "a kept section changed"
        assert after.version in (before.version, before.version + 1)
        self.keep_state()
        return answer

    def held_by_others(self, tx: Tx, user_id: str) -> list[str]:
        theirs = locks.c.holder_id != user_id, locks.c.expires_at > tx.now, locks.c.resource_type == "section"
        return list(tx.execute(sa.select(locks.c.resource_id).where(*theirs)).scalars())

    @staticmethod
    def kept(tree: Tree, section_id: str) -> Any:
        found = tree.find_section(section_id)
        return None if found is None else (found.heading, [(one.id, one.markdown) for one in found.blocks])

    def write(self, person: str, seen: str, wanted: str, *changes: Change) -> Any:
        def run(tx: Tx) -> Any:
            document = store.hold(tx, self.document_id)
            return writing.commit(tx, document, changes, Author("edit", self.actor(person).user_id), SETTINGS)

        return self.attempt(person, set(WORD.findall(seen)), set(WORD.findall(wanted)), run)

    def some_block(self, number: int) -> Block | None:
        found = list(self.tree().blocks())
        return found[number % len(found)] if found else None

    def some_section(self, number: int) -> Section | None:
        found = self.tree().sections
        return found[number % len(found)] if found else None

    # --- people

    @rule(person=_person)
    def look(self, person: str) -> None:
        self.views[person] = self.look_now()

    @rule(person=_person, number=_pick, ops=_ops)
    def edit_from_what_was_seen(self, person: str, number: int, ops: list[tuple[str, int]]) -> None:
        seen = sorted(self.views[person].texts.items())
        if not seen:
            return
        block_id, old = seen[number % len(seen)]
        text = self.changed(old, ops)
        answer = self.write(person, old, text, edit_block(block_id, text, old))
        if isinstance(answer, TextChanged):  # the person looks, and puts both together
            current = answer.fields["current"]
            both = self.changed(current, ops)
            again = self.write(person, current, both, edit_block(block_id, both, current))
            assert not isinstance(again, TextChanged), "an answer to a conflict was refused"

    @rule(person=_person, number=_pick)
    def delete_what_was_seen(self, person: str, number: int) -> None:
        seen = sorted(self.views[person].texts.items())
        if seen:
            block_id, old = seen[number % len(seen)]
            self.write(person, old, "", delete_block(block_id, old))

    @rule(person=_person, number=_pick)
    def insert(self, person: str, number: int) -> None:
        block, text = self.some_block(number), f"{self.word()} {self.word()}.\n\n{self.word()}"
        if block is None:
            self.write(person, "", text, insert_block(None, None, text))
        else:
            self.write(person, "", text, insert_block(block.section_id, block.id, text))

    @rule(person=_person, one=_pick, other=_pick)
    def move(self, person: str, one: int, other: int) -> None:
        block, section = self.some_block(one), self.some_section(other)
        if block is not None and section is not None:
            after = section.blocks[-1].id if section.blocks else None
            if after != block.id:
                self.write(person, "", "", move_block(block.id, section.id, after))

    @rule(person=_person, number=_pick, ops=_ops)
    def rename_section(self, person: str, number: int, ops: list[tuple[str, int]]) -> None:
        section = self.some_section(number)
        if section is not None and section.level:
            heading = " ".join(self.changed(section.heading, [op for op in ops if op[0] == "insert"]).split())
            change = edit_section(section.id, heading, old=section.heading)
            self.write(person, section.heading, heading, change)

    @rule(person=_person, number=_pick)
    def delete_section(self, person: str, number: int) -> None:
        section = self.some_section(number)
        if section is not None:
            view = self.views[person]
            seen = " ".join([section.heading, *(view.texts.get(block.id, "") for block in section.blocks)])
            self.write(person, seen, "", delete_section(section.id, seen=view.version))

    @rule(person=_person, back=st.integers(0, 5))
    def restore(self, person: str, back: int) -> None:
        """Undo by hand: whoever restores a version says of everything that came later that it is to go."""
        before = self.tree()
        version = max(1, before.version - back)
        wanted = [word for shape in self.states[version] for word in self.words_in(shape)]

        def run(tx: Tx) -> Any:
            document = store.hold(tx, self.document_id)
            then, now = versions.tree_at(tx, self.document_id, version), store.tree(tx, self.document_id)
            author = Author("restore", self.actor(person).user_id)
            return writing.commit_tree(tx, document, now, then, author, SETTINGS)

        answer = self.attempt(person, set(words_of(before)), set(wanted), run)
        if not isinstance(answer, Conflict):
            assert shape_of(self.tree()) == self.states[version]

    @staticmethod
    def words_in(shape: Any) -> list[str]:
        _, heading, _, blocks = shape
        return WORD.findall("\n".join([heading, *(text for _, text in blocks)]))

    @rule(person=_person, number=_pick, let_go=st.booleans())
    def keep_a_section(self, person: str, number: int, let_go: bool) -> None:
        section = self.some_section(number)
        if section is None:
            return

        def run(tx: Tx) -> None:
            if let_go:
                locking.release(tx, self.actor(person), section.id)
            else:
                locking.take(tx, self.actor(person), section.id, 3600)

        try:
            self.do(run)
        except SectionLocked:
            assert section.id in self.do(self.held_by_others, self.actor(person).user_id)

    @rule()
    def let_locks_expire(self) -> None:
        self.now += timedelta(hours=2)

    # --- the agent, and what people say to it

    @rule(
        number=_pick,
        ops=_ops,
        kinds=st.lists(
            st.sampled_from(["replace", "delete", "insert", "insert", "move", "insert_section"]), min_size=1, max_size=4
        ),
    )
    def propose(self, number: int, ops: list[tuple[str, int]], kinds: list[str]) -> None:
        tree = self.tree()
        blocks = list(tree.blocks())
        edits: list[NewEdit] = []
        for step, kind in enumerate(kinds if blocks else []):
            block, other = blocks[(number + step) % len(blocks)], blocks[(number * 3 + step) % len(blocks)]
            edits.append(self.new_edit(kind, block, other, ops))
        wanted = [edit for edit in edits if edit.op != "replace" or edit.new_text.strip() != edit.old_text]

        def run(tx: Tx) -> Any:
            run_id = make_run(tx, self.thread_id, self.team.owner, profile="document", status="completed", leg="ended")
            source = Source(self.thread_id, run_id, new_id("effect"))
            return new_proposals.propose(tx, store.hold(tx, self.document_id), source, "Say it better", wanted)

        if wanted:
            self.do(run)

    def new_edit(self, kind: str, block: Block, other: Block, ops: list[tuple[str, int]]) -> NewEdit:
        match kind:
            case "replace":
                text = self.changed(block.markdown, ops)
                return NewEdit("replace", block_id=block.id, old_text=block.markdown, new_text=text)
            case "delete":
                return NewEdit("delete", block_id=block.id, old_text=block.markdown)
            case "move":
                return NewEdit("move", block_id=block.id, after_id=other.id)
            case "insert":
                return NewEdit("insert", after_id=other.id, new_text=f"{self.word()}\n\n{self.word()}")
            case _:
                return NewEdit("insert_section", after_id=block.section_id, heading=self.word(), new_text=self.word())

    def open_edits(self) -> list[EditData]:
        found: list[EditData] = self.do(proposals.open_edits_of, self.document_id)
        return found

    @rule(person=_person, number=_pick, ops=_ops, how=st.sampled_from(["accept", "accept", "edit", "reject"]))
    def decide(self, person: str, number: int, ops: list[tuple[str, int]], how: str) -> None:
        found = self.open_edits()
        if not found:
            return
        edit = found[number % len(found)]
        text = None
        if how == "edit" and edit.op in ("replace", "insert"):
            text = self.changed(edit.new_text, [op for op in ops if op[0] != "delete"])
        answer = self.say(person, [decision_on(edit.id, "reject" if how == "reject" else "accept", text)], [edit])
        if isinstance(answer, TextChanged):
            current = answer.fields["current"]
            both = None if edit.op == "delete" else self.changed(current, ops)
            again = self.say(person, [decision_on(edit.id, "accept", both, current)], [edit])
            assert not isinstance(again, TextChanged), "an answer to a conflict was refused"

    @rule(person=_person, number=_pick)
    def accept_all(self, person: str, number: int) -> None:
        found = self.open_edits()
        if found:
            proposal_id = found[number % len(found)].proposal_id
            still = [edit for edit in found if edit.proposal_id == proposal_id]
            self.say(person, [decision_on(edit.id, "accept") for edit in still], still)

    @rule(person=_person, number=_pick)
    def decide_again(self, person: str, number: int) -> None:
        if self.decided:
            edit = self.decided[sorted(self.decided)[number % len(self.decided)]]
            answer = self.say(person, [decision_on(edit.id, "accept")], [edit])
            assert isinstance(answer, EditDecided)
            assert answer.fields["state"] == edit.state

    def say(self, person: str, verdicts: list[NamedDecision], about: list[EditData]) -> Any:
        seen, wanted = set[str](), set[str]()
        for verdict, edit in zip(verdicts, about, strict=True):
            if verdict.decision == "accept" and edit.op != "move":
                new = edit.new_text if verdict.text is None else verdict.text
                seen |= set(WORD.findall(edit.old_text if verdict.old is None else verdict.old))
                wanted |= set(WORD.findall(f"{edit.heading or ''} {new}"))

        def run(tx: Tx) -> Any:
            user_id = self.actor(person).user_id
            return reviewing.decide(tx, about[0].proposal_id, verdicts, user_id, SETTINGS)

        answer = self.attempt(person, seen, wanted, run)
        if not isinstance(answer, Conflict):
            assert not isinstance(answer, NotFound), "an open edit could not be decided"
            for edit in answer.edits:
                assert edit.state != "open"
                self.decided[edit.id] = edit
        return answer

    # --- what holds at all times

    @invariant()
    def what_was_decided_stays_decided(self) -> None:
        if self.decided:
            now = {edit.id: edit for edit in self.do(proposals.edits_of, list(self.decided))}
            assert now == self.decided

    def teardown(self) -> None:
        for version, shape in self.states.items():
            assert shape_of(self.do(versions.tree_at, self.document_id, version)) == shape, "a version reads otherwise"


@pytest.fixture
def connect(sqlite_url: str) -> Iterator[Callable[[], Tx]]:
    with quick_transactions(sqlite_url) as begin:
        yield begin


def test_no_order_of_edits_and_acceptances_loses_text_or_overwrites_what_was_not_seen(
    connect: Callable[[], Tx],
) -> None:
    profile = settings(max_examples=settings().max_examples * 2 // 3, stateful_step_count=40)
    run_state_machine_as_test(lambda: Interleaving(connect), settings=profile)  # type: ignore[arg-type]  # a factory does

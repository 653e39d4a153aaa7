"""Turn accepted edits into changes of the current document. Pure.

The edits of one proposal belong together, in any order. Texts are inserted before any block is rewritten (it
may become several, and text behind it belongs behind them all) and before anything is deleted, so that a
place next to a deleted block is still a place. Texts for the same place keep the order of the proposal, even
if they are accepted one after the other (`followers`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from outlast.apps.documents import shapes
from outlast.apps.documents.content.markdown_parse import Cuts, tidy
from outlast.apps.documents.content.tree import Block, Tree, missing
from outlast.apps.documents.edits import conflict_check as unseen
from outlast.apps.documents.edits.merge import merge
from outlast.apps.documents.proposals.shapes import EditData, MergeAnswer
from outlast.apps.documents.shapes import Change
from outlast.base.errors import MalformedInput, TextChanged
from outlast.base.records import dataclass


@dataclass(frozen=True, slots=True)
class Accepted:
    """An edit that a person accepts: as proposed, or with their own `text`. `old`: the block's text that they saw when
    they wrote it (None: the one that the agent saw)."""

    edit: EditData
    text: str | None = None
    old: str | None = None

    @property
    def wanted(self) -> str:
        return self.edit.new_text if self.text is None else self.text

    @property
    def base(self) -> str:
        return self.edit.old_text if self.old is None else self.old


@dataclass(slots=True)
class Plan:
    """The changes, and for each edit: the written text (None if none), and the ref of the last thing inserted
    for it."""

    changes: list[Change] = field(default_factory=list)
    written: dict[str, str | None] = field(default_factory=dict)
    ends: dict[str, str] = field(default_factory=dict)
    cuts: Cuts = field(default_factory=Cuts)


def plan(tree: Tree, accepted: Sequence[Accepted], cuts: Cuts | None = None) -> Plan:
    """The changes that make these edits, in order. `cuts`: texts that are parsed already; others are parsed here, about
    a millisecond per 2,000 characters. Raises `TextChanged` where text would be overwritten that neither the agent nor
    the person has seen (fields of the first, and `conflicts`: all of them), `MalformedInput` for a text where none
    belongs."""
    made = Plan(cuts=cuts or Cuts())
    places = _Places(tree)
    rewritten: list[Change] = []
    deletions: list[Change] = []
    conflicts: list[TextChanged] = []
    for one in sorted(accepted, key=lambda one: one.edit.ordinal):
        _demand_text(one)
        try:
            _plan(one, places, made, rewritten, deletions)
        except TextChanged as conflict:
            conflict.fields |= {"edit_id": one.edit.id, "proposal_id": one.edit.proposal_id}
            conflicts.append(conflict)
    if conflicts:
        first = conflicts[0]
        raise TextChanged(str(first), **first.fields, conflicts=[dict(one.fields) for one in conflicts])
    made.changes += [*rewritten, *deletions]
    return made


def merge_of(tree: Tree, edit: EditData) -> MergeAnswer:
    """The result for the block if the edit were accepted as proposed."""
    block = tree.find_block(edit.block_id or "")
    current = "" if block is None else block.markdown
    base, wanted = (current, current) if edit.op == "move" else (edit.old_text, edit.new_text)
    merged = merge(base, current, wanted)
    return MergeAnswer(base=edit.old_text, current=current, wanted=wanted, text=merged.text, hunks=list(merged.hunks))


def followers(still_open: Sequence[EditData], accepted: Sequence[EditData]) -> Mapping[str, str]:
    """Open edits of a proposal whose place is behind an edit accepted now, either an earlier text there or a block that
    became several: their ids, and those of the accepted edits that they follow."""
    behind: dict[str, str] = {}
    for edit in still_open:
        place = place_of(edit)
        before = [one for one in accepted if place_of(one) == place and one.ordinal < edit.ordinal]
        longer = [one for one in accepted if one.op == "replace" and place == ("block", one.block_id)]
        if place is not None and (before or longer):
            behind[edit.id] = (max(before, key=lambda one: one.ordinal) if before else longer[0]).id
    return behind


Place = tuple[str, str | None]


def place_of(edit: EditData) -> Place | None:
    """The place that a text goes behind, or None if the edit inserts nothing."""
    if edit.op == "insert_section":
        return "section", edit.after_id
    if edit.op not in ("insert", "move"):
        return None
    return ("first", edit.section_id) if edit.after_id is None else ("block", edit.after_id)


class _Places:
    """The places of things while changes are planned: later texts for a place go behind the earlier ones."""

    def __init__(self, tree: Tree) -> None:
        self._document_id = tree.document_id
        self._blocks = {block.id: block for block in tree.blocks()}
        self._home: dict[str, str | None] = {block.id: block.section_id for block in tree.blocks()}
        self._tail: dict[Place, str] = {}
        self._tails: dict[str, Place] = {}  # reverse: the place by its last thing

    def block(self, edit: EditData) -> Block:
        """The block that an edit is about. Raises `NotFound`."""
        found = self._blocks.get(edit.block_id or "")
        if found is None:
            raise missing("block", self._document_id, edit.block_id or "")
        return found

    def block_place(self, edit: EditData) -> tuple[str | None, str | None]:
        """The section, and the block (or ref) to go behind."""
        after = self._behind_all(place_of(edit))[1] or edit.after_id
        return self._home.get(after or "", edit.section_id), after

    def section_place(self, edit: EditData) -> str | None:
        return self._behind_all(place_of(edit))[1] or edit.after_id

    def _behind_all(self, place: Place | None) -> tuple[Place | None, str | None]:
        """The place behind everything inserted at a place, and the last thing there (None if there is none)."""
        last = None
        while place is not None and place in self._tail:
            last = self._tail[place]
            place = (place[0] if place[0] == "section" else "block", last)
        return place, last

    def put(self, place: Place | None, end: str, section_id: str | None) -> None:
        """Record `end` as the last thing at this place."""
        self._home[end] = section_id
        place, _ = self._behind_all(place)
        assert place is not None  # only texts with a place are inserted
        self._tail[place] = end
        self._tails[end] = place

    def leave(self, block_id: str) -> None:
        """A block moves away: the things behind it stay."""
        before = self._tails.pop(block_id, None)
        if before is not None:
            del self._tail[before]
        behind = self._tail.pop(("block", block_id), None)
        if behind is not None:
            del self._tails[behind]


def _plan(one: Accepted, places: _Places, made: Plan, rewritten: list[Change], deletions: list[Change]) -> None:
    edit = one.edit
    made.written[edit.id] = None
    match edit.op:
        case "replace":
            block = places.block(edit)
            text = unseen.merged(block, one.base, one.wanted)
            rewritten += _rewrite(edit, block, text, made)
            made.written[edit.id] = text
        case "delete":
            block = places.block(edit)
            unseen.demand_seen(block, one.base)
            deletions.append(shapes.DeleteBlockChange(op="delete_block", block_id=block.id, old=block.markdown))
        case "insert":
            _insert(one, places, made)
        case "move":
            _move(edit, places, made)
        case "insert_section":
            _insert_section(one, places, made)


def _insert(one: Accepted, places: _Places, made: Plan) -> None:
    """Block by block, so that later texts can go behind the last one."""
    edit, text = one.edit, tidy(one.wanted)
    section_id, after = places.block_place(edit)
    pieces = _pieces(text, made.cuts)
    made.changes += _insertions(edit, section_id, after, pieces, 0, made.cuts)
    if pieces:
        made.ends[edit.id] = _ref(edit, len(pieces) - 1)
        places.put(place_of(edit), made.ends[edit.id], section_id)
    made.written[edit.id] = text


def _rewrite(edit: EditData, block: Block, text: str, made: Plan) -> list[Change]:
    """Block by block too; the first keeps the id."""
    first, *more = _pieces(text, made.cuts) or [text]
    made.cuts.cut(first)
    changes: list[Change] = [
        shapes.EditBlockChange(op="edit_block", block_id=block.id, markdown=first, old=block.markdown),
        *_insertions(edit, block.section_id, block.id, more, 1, made.cuts),
    ]
    if more:
        made.ends[edit.id] = _ref(edit, len(more))
    return changes


def _insertions(
    edit: EditData, section_id: str | None, after: str | None, pieces: Sequence[str], first: int, cuts: Cuts
) -> Iterator[Change]:
    """Each piece behind the one before it, with refs that count from `first`."""
    for number, piece in enumerate(pieces, start=first):
        cuts.cut(piece)
        ref = _ref(edit, number)
        yield shapes.InsertBlockChange(op="insert_block", section_id=section_id, after=after, markdown=piece, ref=ref)
        after = ref


def _insert_section(one: Accepted, places: _Places, made: Plan) -> None:
    edit, text, ref = one.edit, tidy(one.wanted), _ref(one.edit, 0)
    made.changes.append(
        shapes.InsertSectionChange(
            op="insert_section",
            after=places.section_place(edit),
            heading=edit.heading or "",
            level=edit.level or 2,
            markdown=text,
            ref=ref,
        )
    )
    made.cuts.cut(text)
    places.put(place_of(edit), ref, None)
    made.written[edit.id], made.ends[edit.id] = text, ref


def _pieces(text: str, cuts: Cuts) -> list[str]:
    """The blocks of a text; one with headings is left whole."""
    parts = cuts.cut(text)
    return [piece.markdown for piece in parts[0].pieces] if len(parts) == 1 else [text]


def _move(edit: EditData, places: _Places, made: Plan) -> None:
    block = places.block(edit)
    places.leave(block.id)
    section_id, after = places.block_place(edit)
    made.changes.append(shapes.MoveBlockChange(op="move_block", block_id=block.id, section_id=section_id, after=after))
    places.put(place_of(edit), block.id, section_id)
    made.ends[edit.id] = block.id


def _ref(edit: EditData, number: int) -> str:
    return f"{edit.id}:{number}"


def _demand_text(one: Accepted) -> None:
    if one.text is None:
        return
    if one.edit.op in ("delete", "move"):
        raise MalformedInput(
            f"This edit is a {one.edit.op}: it has no text that you can change.",
            hint="Accept it as it is, or reject it and change the document yourself.",
            edit_id=one.edit.id,
            field="text",
        )
    if not one.text.strip() and one.edit.op == "insert":
        raise MalformedInput(
            "There is nothing to insert.", hint="Reject the edit instead.", edit_id=one.edit.id, field="text"
        )

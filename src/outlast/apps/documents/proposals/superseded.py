"""Supersede edits: by another proposal of the same conversation, or because their block was deleted.

An edit is superseded only if there is nothing left to decide; changed text is merged on acceptance. A new text
whose neighbour was deleted stays open: its new place is behind the neighbour's predecessor.
"""

from collections.abc import Collection, Sequence

from outlast.apps.documents import store
from outlast.apps.documents.content.tree import Tree, last_before
from outlast.apps.documents.proposals.comment_resolution import settle_comments
from outlast.apps.documents.proposals.shapes import EditData
from outlast.apps.documents.proposals.store import news_of, open_edits_of, places_changed, settle_states, tell
from outlast.apps.documents.tables import edits, proposals
from outlast.base.records import dataclass
from outlast.db.database import Tx
from outlast.kernel.mentions.inbox_items import went


@dataclass(frozen=True, slots=True)
class _Gone:
    """The deleted things of a document, and its state before."""

    blocks: Collection[str]
    sections: Collection[str]
    before: Tree


def supersede_gone(
    tx: Tx, document_id: str, blocks: Collection[str], sections: Collection[str], version: int, before: Tree, by: str
) -> None:
    """Supersede the open edits of blocks and sections that a version of the document deleted (`before` is its old
    state, with the blocks of the sections concerned), and send the new places of texts next to them. Publishes to
    followers, and resolves comments without open edits in the name of `by`, the author of the version. The caller holds
    the document's row."""
    if not blocks and not sections:
        return
    gone = _Gone(frozenset(blocks), frozenset(sections), before)
    lost: list[tuple[EditData, str, str]] = []
    placed: list[str] = []
    for edit in open_edits_of(tx, document_id):
        reason = _loss(gone, edit)
        if reason is not None:
            lost.append((edit, f"version:{version}", f"{reason} in version {version}."))
        elif _beside(gone, edit):
            _place_anew(tx, gone, edit)
            placed.append(edit.proposal_id)
    marked = _mark(tx, lost)
    news = [*news_of(tx, "edit.superseded", marked), *places_changed(tx, placed)]
    if not news:
        return
    project_id: str = store.document_of(tx, document_id).project_id
    tell(tx, project_id, news)
    touched = dict.fromkeys(edit.proposal_id for edit, _, _ in lost)
    if any(tx.value(proposals.c.state, {"id": proposal_id}) == "closed" for proposal_id in touched):
        store.tell_inbox(tx, project_id, [went("proposal", None)])
    settle_comments(tx, touched, by)


def supersede_older(tx: Tx, older: Sequence[EditData], newer: Sequence[EditData]) -> list[str]:
    """Supersede the open edits that the same conversation proposed before for the same blocks. Returns their ids; not
    announced yet."""
    lost = []
    for edit in older:
        same = [one for one in newer if one.block_id is not None and one.block_id == edit.block_id]
        if same:
            best = next((one for one in same if one.op == edit.op), same[0])
            lost.append((edit, best.id, "The agent proposed something newer for the same block."))
    return _mark(tx, lost)


def _mark(tx: Tx, lost: Sequence[tuple[EditData, str, str]]) -> list[str]:
    for edit, by, reason in lost:
        tx.update(edits, {"id": edit.id}, state="superseded", superseded_by=by, reason=reason)
    settle_states(tx, dict.fromkeys(edit.proposal_id for edit, _, _ in lost))
    return [edit.id for edit, _, _ in lost]


def _loss(gone: _Gone, edit: EditData) -> str | None:
    """The reason why there is nothing left to decide, or None if there is."""
    if edit.block_id is not None and edit.block_id in gone.blocks:
        return "Its block was deleted"
    homeless = edit.after_id is None or edit.after_id in gone.blocks
    home = _home(gone, edit)
    if edit.op in ("insert", "move") and home in gone.sections and homeless:
        section = gone.before.find_section(home or "")
        if section is None or section.level > 0:
            return "The section that it was to go into was deleted"
    return None


def _home(gone: _Gone, edit: EditData) -> str | None:
    """The section that the text goes into: its neighbour's, which may have moved since."""
    neighbour = gone.before.find_block(edit.after_id or "")
    return edit.section_id if neighbour is None else neighbour.section_id


def _beside(gone: _Gone, edit: EditData) -> bool:
    if edit.op == "insert_section":
        return edit.after_id in gone.sections
    return edit.after_id in gone.blocks or (edit.after_id is None and edit.section_id in gone.sections)


def _place_anew(tx: Tx, gone: _Gone, edit: EditData) -> None:
    """Move the place behind the nearest predecessor of the deleted neighbour."""
    if edit.op == "insert_section":
        siblings = [section.id for section in gone.before.sections if section.level > 0]
        after = last_before(siblings, edit.after_id, lambda key: key not in gone.sections)
        tx.update(edits, {"id": edit.id}, after_id=after)
        return
    section_id, after = _home(gone, edit), None
    home = gone.before.find_section(section_id or "")
    if home is not None and edit.after_id is not None:
        siblings = [block.id for block in home.blocks if block.id != edit.block_id]
        after = last_before(siblings, edit.after_id, lambda key: key not in gone.blocks)
    if after is None and section_id in gone.sections:
        section_id = None  # of the text before the first heading, which exists again once it has a block
    tx.update(edits, {"id": edit.id}, after_id=after, section_id=section_id)

"""The differences between two states of a document for display: section by section, block by block. Pure."""

from collections.abc import Iterator, Sequence
from itertools import chain

from outlast.apps.documents.content.tree import Block, Section, Tree
from outlast.apps.documents.edits.tree_diff import Delta, deltas
from outlast.apps.documents.shapes import BlockDifference, DiffState, DocumentDifference, SectionDifference


def difference(before: Tree, after: Tree) -> DocumentDifference:
    """In the order of `after`; deleted things appear where they were. A block that went to another section appears
    there, as moved (or changed), and not where it was."""
    found = {delta.id: delta for delta in deltas(before, after) if not delta.quiet}
    touched = set(chain.from_iterable(delta.sections for delta in found.values()))
    was = {section.id: section for section in before.sections}
    now = {section.id: section for section in after.sections}
    order = woven([*was], [*now])
    return DocumentDifference(
        from_version=before.version,
        to_version=after.version,
        sections=[_section(was.get(key), now.get(key), found, whole=key in touched) for key in order],
    )


def woven(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """`after`, with the ids only in `before` behind the one that they followed."""
    there = set(after)
    followers: dict[str | None, list[str]] = {}
    last: str | None = None
    for key in before:
        if key in there:
            last = key
        else:
            followers.setdefault(last, []).append(key)
    return [*followers.get(None, []), *(one for key in after for one in (key, *followers.get(key, [])))]


def _section(old: Section | None, new: Section | None, found: dict[str, Delta], *, whole: bool) -> SectionDifference:
    shown = new or old
    assert shown is not None  # it is in one of the two
    return SectionDifference(
        id=shown.id,
        state=_state(found.get(shown.id)),
        heading_before=None if old is None else old.heading,
        heading_after=None if new is None else new.heading,
        blocks=list(_blocks(old, new, found)) if whole else [],
    )


def _blocks(old: Section | None, new: Section | None, found: dict[str, Delta]) -> Iterator[BlockDifference]:
    was = {} if old is None else {block.id: block for block in old.blocks}
    now = {} if new is None else {block.id: block for block in new.blocks}
    for key in woven([*was], [*now]):
        delta = found.get(key)
        if key not in now and delta is not None and delta.after is not None:
            continue  # it appears where it went
        before = delta.before if delta is not None else was.get(key)
        after = now.get(key)
        yield BlockDifference(
            id=key,
            state=_state(delta),
            before=before.markdown if isinstance(before, Block) else None,
            after=after.markdown if after is not None else None,
        )


def _state(delta: Delta | None) -> DiffState:
    return "same" if delta is None else delta.state

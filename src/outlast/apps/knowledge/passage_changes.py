"""The changes that turn a source's passages into new ones: computed outside the transaction, so that they do not block
the writer. Pure."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from outlast.apps.knowledge.passages import Cut, page_of
from outlast.apps.knowledge.rows import KnowledgePassageRow
from outlast.apps.knowledge.source_documents import Reading
from outlast.base.records import dataclass
from outlast.kernel.library.modules import text_hash


@dataclass(frozen=True, slots=True)
class Contents:
    """The new content of a source: the reading, the passages of documents that were read again by address (the others
    keep theirs), and the rules by which they were cut."""

    reading: Reading
    cuts: Mapping[str, Sequence[Cut]]
    cut: str


@dataclass(frozen=True, slots=True)
class Exchange:
    """From the passages of `revision` to the new ones: ids to remove, (position, hash, passage) to add, (id,
    position, address) to move; the new number, their size and the hash of all."""

    revision: int
    removed: Sequence[str]
    added: Sequence[tuple[int, str, Cut]]
    moved: Sequence[tuple[str, int, str]]
    passages: int
    size_bytes: int
    hash: str

    @property
    def changes(self) -> bool:
        return bool(self.removed or self.added or self.moved)


def exchange(revision: int, old: Sequence[KnowledgePassageRow], contents: Contents) -> Exchange:
    """Equal passages keep their ids, and, by their hash, their vectors: at the same address first, then
    anywhere. Blocking for large sources: call it in a worker thread."""
    new = _new_passages(contents, old)
    hashes = [one.hash for one in new]
    taken = _taken(old, new, hashes)
    before = {passage.id: passage for passage in old}
    moved = [
        (passage_id, position, new[position].url)
        for position, passage_id in taken.items()
        if (before[passage_id].position, before[passage_id].url) != (position, new[position].url)
    ]
    kept = set(taken.values())
    return Exchange(
        revision,
        [passage.id for passage in old if passage.id not in kept],
        [(at, hashes[at], one) for at, one in enumerate(new) if at not in taken],
        moved,
        len(new),
        sum(len(one.body.encode("utf-8", "replace")) for one in new),
        text_hash("".join(hashes)),
    )


def _new_passages(contents: Contents, old: Sequence[KnowledgePassageRow]) -> list[Cut]:
    kept: defaultdict[str, list[Cut]] = defaultdict(list)
    for one in old:
        kept[page_of(one.url)].append(Cut(one.heading, one.body, one.url))
    found: list[Cut] = []
    for document in contents.reading.documents or ():
        fresh = contents.cuts.get(document.url)
        found += kept[page_of(document.url)] if fresh is None else fresh
    return found


def _taken(old: Sequence[KnowledgePassageRow], new: Sequence[Cut], hashes: Sequence[str]) -> dict[int, str]:
    """The id of the passage that stays, by new position: of the same text at the same address first, then of the
    same text anywhere."""
    taken: dict[int, str] = {}
    for at_address in (True, False):
        used = set(taken.values())
        free: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        for passage in reversed(old):
            if passage.id not in used:
                free[passage.hash, passage.url if at_address else ""].append(passage.id)
        for position, one in enumerate(new):
            same = free[hashes[position], one.url if at_address else ""]
            if position not in taken and same:
                taken[position] = same.pop()
    return taken

"""A tree while it is being changed. Sections that nobody touches stay the same objects."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from outlast.base.errors import MalformedInput
from outlast.core.documents.cutting import Part, Piece
from outlast.core.documents.ranks import LONGEST, between, between_all, spread
from outlast.core.documents.tree import Block, Section, Tree, no_block, no_section


class Draft:
    """Made of a tree; `tree` gives what became of it."""

    def __init__(self, tree: Tree, make_id: Callable[[str], str]) -> None:
        self._tree, self._make_id = tree, make_id
        self._sections: list[Section] = list(tree.sections)
        self._where: dict[str, str] | None = None

    def tree(self) -> Tree:
        return replace(self._tree, sections=tuple(self._sections))

    def section(self, section_id: str) -> Section:
        """The section as it is now. Raises `NotFound`."""
        return self._sections[self._place(section_id)]

    def block(self, block_id: str) -> Block:
        """The block as it is now. Raises `NotFound`."""
        section = self._home(block_id)
        return next(block for block in section.blocks if block.id == block_id)

    def has(self, block_id: str) -> bool:
        """Whether there is such a block among those that were read."""
        return any(block.id == block_id for section in self._sections for block in section.blocks)

    def preamble(self) -> str:
        """The section before the first heading; made where there is none."""
        if self._sections and self._sections[0].level == 0:
            return self._sections[0].id
        first = self._sections[0].rank if self._sections else None
        made = Section(self._make_id("section"), between(None, first), "", 0)
        self._sections.insert(0, made)
        return made.id

    def insert(self, section_id: str, after: str | None, parts: Sequence[Part]) -> str | None:
        """Put a text behind a block of a section (None: first). The id of the first thing made; None: the text is
        empty."""
        section = self.section(section_id)
        at = self._behind(section, after)
        return self._lay(section, at, at, parts, None)

    def rewrite(self, block_id: str, parts: Sequence[Part]) -> None:
        """Put a text in the place of a block; its first block keeps the id."""
        section = self._home(block_id)
        at = next(place for place, block in enumerate(section.blocks) if block.id == block_id)
        self._lay(section, at, at + 1, parts, section.blocks[at])

    def remove_block(self, block_id: str) -> None:
        section = self._home(block_id)
        self._put(section, [block for block in section.blocks if block.id != block_id])

    def move_block(self, block_id: str, section_id: str, after: str | None) -> None:
        block = self.block(block_id)
        if after == block_id:
            raise MalformedInput("A block cannot stand behind itself.", field="after")
        self._behind(self.section(section_id), after)  # before anything changes
        self.remove_block(block_id)
        target = self.section(section_id)
        at = self._behind(target, after)
        low, high = _around(target.blocks, at)
        moved = replace(block, section_id=section_id, rank=between(low, high))
        self._put(target, [*target.blocks[:at], moved, *target.blocks[at:]])

    def add_section(self, after: str | None, heading: str, level: int) -> str:
        """An empty section behind another one (None: first)."""
        return self._add_sections(self._section_place(after), [(heading, level)])[0]

    def set_section(self, section_id: str, heading: str, level: int) -> None:
        section = self.section(section_id)
        if (section.heading, section.level) != (heading, level):
            self._sections[self._place(section_id)] = replace(section, heading=heading, level=level)

    def move_section(self, section_id: str, after: str | None, *, whole: bool) -> None:
        at = self._place(section_id)
        if self._sections[at].level == 0:
            raise MalformedInput(
                "The text before the first heading has no other place.",
                hint="Give it a heading first, or move its blocks.",
                field="section_id",
            )
        moving = self._sections[at : self._end(at) if whole else at + 1]
        if any(section.id == after for section in moving):
            raise MalformedInput("A section cannot stand behind itself.", field="after")
        self._section_place(after)  # before anything changes
        del self._sections[at : at + len(moving)]
        to = self._section_place(after)
        ranks = between_all(*_around(self._sections, to), len(moving))
        self._sections[to:to] = [replace(one, rank=rank) for one, rank in zip(moving, ranks, strict=True)]

    def remove_section(self, section_id: str, *, keep_blocks: bool) -> None:
        at = self._place(section_id)
        section = self._sections[at]
        if keep_blocks and at == 0:
            self._sections[0] = replace(section, heading="", level=0)
            return
        del self._sections[at]
        self._where = None
        if keep_blocks:
            before = self._sections[at - 1]
            self._put(before, [*before.blocks, *_behind_all(before, section.blocks)])

    def settle(self) -> None:
        """Let a first section without heading and blocks go, and spread ranks anew where they became long."""
        if self._sections and self._is_nothing(self._sections[0]):
            del self._sections[0]
        if any(len(section.rank) > LONGEST for section in self._sections):
            self._sections = _spread(self._sections)
        for at, section in enumerate(self._sections):
            if any(len(block.rank) > LONGEST for block in section.blocks):
                self._sections[at] = replace(section, blocks=tuple(_spread(section.blocks)))

    def _is_nothing(self, first: Section) -> bool:
        """Whether a first section has neither heading nor blocks. Of one that nobody touched they may only not have
        been read."""
        untouched = bool(self._tree.sections) and first is self._tree.sections[0]
        return first.level == 0 and not first.blocks and not (self._tree.unread and untouched)

    def _lay(
        self, section: Section, start: int, end: int, parts: Sequence[Part], keeper: Block | None
    ) -> str | None:
        """Put parts in the place of a section's blocks from `start` to `end`; blocks behind them follow the last part.
        The id of the first thing made."""
        low, _ = _around(section.blocks, start)
        high = section.blocks[end].rank if end < len(section.blocks) else None
        first, later = parts[0], parts[1:]
        makes = _Maker(self._make_id, keeper)
        head = makes.blocks(section.id, first.pieces, low, high)
        tail = section.blocks[end:]
        if not later:
            self._put(section, [*section.blocks[:start], *head, *tail])
            return makes.first
        self._put(section, [*section.blocks[:start], *head])
        at = self._place(section.id) + 1
        made = self._add_sections(at, [(part.heading, part.level) for part in later])
        makes.first = makes.first or made[0]
        for place, part in enumerate(later, start=at):
            fresh = self._sections[place]
            full = replace(fresh, blocks=tuple(makes.blocks(fresh.id, part.pieces, None, None)))
            rest = tail if place == at + len(later) - 1 else ()
            self._sections[place] = replace(full, blocks=(*full.blocks, *_behind_all(full, rest)))
        self._where = None
        return makes.first

    def _add_sections(self, at: int, headed: Sequence[tuple[str, int]]) -> list[str]:
        ranks = between_all(*_around(self._sections, at), len(headed))
        made = [
            Section(self._make_id("section"), rank, heading, level)
            for rank, (heading, level) in zip(ranks, headed, strict=True)
        ]
        self._sections[at:at] = made
        return [section.id for section in made]

    def _put(self, section: Section, blocks: Iterable[Block]) -> None:
        self._sections[self._place(section.id)] = replace(section, blocks=tuple(blocks))
        self._where = None

    def _place(self, section_id: str) -> int:
        for place, section in enumerate(self._sections):
            if section.id == section_id:
                return place
        raise no_section(self._tree.document_id, section_id)

    def _home(self, block_id: str) -> Section:
        if self._where is None:
            self._where = {block.id: section.id for section in self._sections for block in section.blocks}
        if block_id not in self._where:
            raise no_block(self._tree.document_id, block_id)
        return self.section(self._where[block_id])

    def _behind(self, section: Section, after: str | None) -> int:
        if after is None:
            return 0
        for place, block in enumerate(section.blocks, start=1):
            if block.id == after:
                return place
        raise no_block(self._tree.document_id, after)

    def _section_place(self, after: str | None) -> int:
        if after is not None:
            return self._place(after) + 1
        return 1 if self._sections and self._sections[0].level == 0 else 0

    def _end(self, at: int) -> int:
        """Where the outline below a section ends."""
        level, end = self._sections[at].level, at + 1
        while end < len(self._sections) and self._sections[end].level > level:
            end += 1
        return end


class _Maker:
    """Makes blocks of pieces; the first one of all is `keeper` with another text, where there is one."""

    def __init__(self, make_id: Callable[[str], str], keeper: Block | None) -> None:
        self._make_id, self._keeper = make_id, keeper
        self.first: str | None = None

    def blocks(
        self, section_id: str, pieces: Sequence[Piece], low: str | None, high: str | None
    ) -> list[Block]:
        ranks = self._ranks(section_id, len(pieces), low, high)
        return [self._block(section_id, piece, rank) for piece, rank in zip(pieces, ranks, strict=True)]

    def _ranks(self, section_id: str, count: int, low: str | None, high: str | None) -> list[str]:
        keeper = self._keeper
        if count and keeper is not None and keeper.section_id == section_id:
            return [keeper.rank, *between_all(keeper.rank, high, count - 1)]
        return between_all(low, high, count)

    def _block(self, section_id: str, piece: Piece, rank: str) -> Block:
        keeper, self._keeper = self._keeper, None
        if keeper is not None:
            made = replace(keeper, section_id=section_id, rank=rank, kind=piece.kind, markdown=piece.markdown)
        else:
            made = Block(self._make_id("block"), section_id, rank, piece.kind, piece.markdown)
        self.first = self.first or made.id
        return made


def _around(ranked: Sequence[Any], at: int) -> tuple[str | None, str | None]:
    """The ranks before and behind a place."""
    low = ranked[at - 1].rank if at > 0 else None
    return low, ranked[at].rank if at < len(ranked) else None


def _behind_all(section: Section, blocks: Sequence[Block]) -> list[Block]:
    """Blocks of elsewhere as the last ones of a section."""
    low = section.blocks[-1].rank if section.blocks else None
    ranks = between_all(low, None, len(blocks))
    return [
        replace(block, section_id=section.id, rank=rank) for block, rank in zip(blocks, ranks, strict=True)
    ]


def _spread(ranked: Sequence[Any]) -> list[Any]:
    return [replace(one, rank=rank) for one, rank in zip(ranked, spread(len(ranked)), strict=True)]

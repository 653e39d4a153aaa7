"""A tree while it is being changed. Sections that no change touches stay the same objects.

A change takes as many steps as it inserts, moves or removes things, whatever the length of the document. New and
moved things get their ranks at the end, when all neighbours are known.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from outlast.apps.documents.content.chains import Chain
from outlast.apps.documents.content.markdown_parse import Part
from outlast.apps.documents.content.ranks import with_ranks
from outlast.apps.documents.content.tree import Block, Section, Tree, missing
from outlast.base.errors import MalformedInput

_UNRANKED = ""


class Draft:
    """Created from a tree; `tree` returns the result."""

    def __init__(self, tree: Tree, make_id: Callable[[str], str]) -> None:
        self._tree, self._make_id = tree, make_id
        self._sections = {section.id: section for section in tree.sections}
        self._order = Chain("sections", self._sections)
        self._unopened = {block.id: section.id for section in tree.sections for block in section.blocks}
        self._chains: dict[str, Chain] = {}  # of the sections that were opened, by id
        self._home: dict[str, Chain] = {}
        self._blocks: dict[str, Block] = {}

    def tree(self) -> Tree:
        """The current tree, with ranks for all. A first section without heading and blocks is left out."""
        sections = [self.section(section_id) for section_id in self._order]
        # A first section whose blocks may not have been read counts as not empty.
        unknown = self._tree.unread and sections[:1] == list(self._tree.sections[:1])
        if sections and sections[0].level == 0 and not sections[0].blocks and not unknown:
            del sections[0]
        return replace(self._tree, sections=tuple(map(_ranked, with_ranks(sections))))

    def head(self, section_id: str) -> Section:
        """The section with its current heading and level; its blocks may be older. Raises `NotFound`."""
        found = self._sections.get(section_id)
        if found is None:
            raise missing("section", self._tree.document_id, section_id)
        return found

    def section(self, section_id: str) -> Section:
        """The current section. Raises `NotFound`."""
        head, chain = self.head(section_id), self._chains.get(section_id)
        return head if chain is None else replace(head, blocks=tuple(map(self.block, chain)))

    def block(self, block_id: str) -> Block:
        """The current block. Raises `NotFound`."""
        home, block = self._home_of(block_id), self._blocks[block_id]
        return block if block.section_id == home.name else replace(block, section_id=home.name)

    def has(self, block_id: str) -> bool:
        """True if the block is among those that were read."""
        return block_id in self._home or block_id in self._unopened

    def preamble(self) -> str:
        """The section before the first heading; created if missing."""
        return self.find_preamble() or self._add_sections(None, [("", 0)])[0]

    def has_section(self, section_id: str) -> bool:
        return section_id in self._sections

    def insert(self, section_id: str, after: str | None, parts: Sequence[Part]) -> str | None:
        """Insert a text behind a block of a section (first if None). Returns the id of the first new thing, or None if
        the text is empty."""
        chain = self._chain(section_id)
        self._demand_in(chain, after)
        return self._lay(chain, after, parts)

    def rewrite(self, block_id: str, parts: Sequence[Part]) -> None:
        """Replace a block by a text; its first block keeps the id."""
        chain, keeper = self._home_of(block_id), self.block(block_id)
        before = chain.before(block_id)
        self.remove_block(block_id)
        self._lay(chain, before, parts, keeper)

    def remove_block(self, block_id: str) -> None:
        self._home_of(block_id).take(block_id)
        del self._home[block_id], self._blocks[block_id]

    def put_block(self, section_id: str, after: str | None, block: Block) -> None:
        """Insert a block with its own id behind another of the section (first if None)."""
        self._put(self._chain(section_id), after, replace(block, rank=_UNRANKED))

    def set_block(self, block: Block) -> None:
        """Replace a block in its place."""
        self._home_of(block.id)
        self._blocks[block.id] = block

    def move_block(self, block_id: str, section_id: str, after: str | None) -> None:
        block, target = self.block(block_id), self._chain(section_id)
        if after == block_id:
            raise MalformedInput("A block cannot be placed after itself.", field="after")
        self._demand_in(target, after)  # before anything changes
        self.remove_block(block_id)
        self._put(target, after, replace(block, rank=_UNRANKED))

    def add_section(self, after: str | None, heading: str, level: int) -> str:
        """Insert an empty section behind another one (first if None)."""
        return self._add_sections(self._section_place(after), [(heading, level)])[0]

    def put_section(self, after: str | None, section: Section) -> None:
        """Insert an empty section with its own id behind another one (first if None)."""
        self._sections[section.id] = section
        self._order.put(section.id, self._section_place(after))

    def set_section(self, section_id: str, heading: str, level: int) -> None:
        section = self.head(section_id)
        if (section.heading, section.level) != (heading, level):
            self._sections[section_id] = replace(section, heading=heading, level=level)

    def move_section(self, section_id: str, after: str | None, *, whole: bool) -> None:
        if self.head(section_id).level == 0:
            raise MalformedInput(
                "The text before the first heading cannot be moved.",
                hint="Give it a heading first, or move its blocks.",
                field="section_id",
            )
        moving = [section_id, *(self._below(section_id) if whole else ())]
        if after in moving:
            raise MalformedInput("A section cannot be placed after itself.", field="after")
        place = self._section_place(after)
        for one in moving:
            self._order.take(one)
        for one in moving:
            self._order.put(one, place)
            self._sections[one] = replace(self._sections[one], rank=_UNRANKED)
            place = one

    def remove_section(self, section_id: str, *, keep_blocks: bool) -> None:
        section, before = self.head(section_id), self._order.before(section_id)
        if keep_blocks and before is None:
            self._sections[section_id] = replace(section, heading="", level=0)
            return
        blocks = [self.block(block_id) for block_id in self._chain(section_id)]
        for block in blocks:
            self.remove_block(block.id)
        self._order.take(section_id)
        del self._sections[section_id], self._chains[section_id]
        if keep_blocks and before is not None:
            target = self._chain(before)
            for block in blocks:
                self._put(target, target.last, replace(block, rank=_UNRANKED))

    def _lay(self, chain: Chain, after: str | None, parts: Sequence[Part], keeper: Block | None = None) -> str | None:
        """Insert parts behind a block of a section; the blocks that were behind it follow the last part. If `keeper` is
        given, the first block is that block with a new text. Returns the id of the first new thing."""
        first, *later = self._blocks_of(parts, keeper)
        if not later:
            self._write(chain, after, first)
            return first[0].id if first else None
        head, tail = self._split(chain, after)
        self._write(head, head.last, first)
        made = self._add_sections(head.name, [(part.heading, part.level) for part in parts[1:]])
        self._chains[made[-1]], tail.name = tail, made[-1]
        for section_id, blocks in zip(made, later, strict=True):
            self._write(self._chain(section_id), None, blocks)
        return first[0].id if first else made[0]

    def _blocks_of(self, parts: Sequence[Part], keeper: Block | None) -> Iterator[list[Block]]:
        for part in parts:
            blocks = []
            for piece in part.pieces:
                block = keeper or Block(self._make_id("block"), "", _UNRANKED, piece.kind, "")
                blocks.append(replace(block, kind=piece.kind, markdown=piece.markdown))
                keeper = None
            yield blocks

    def _split(self, chain: Chain, after: str | None) -> tuple[Chain, Chain]:
        """A section's blocks up to a place, and those behind it, which belong to no section yet."""
        head, tail = chain.split(after)
        fresh = head if tail is chain else tail
        self._home.update(dict.fromkeys(fresh, fresh))
        self._chains[head.name] = head
        return head, tail

    def _write(self, chain: Chain, after: str | None, blocks: Sequence[Block]) -> None:
        for block in blocks:
            here = block.section_id == chain.name
            self._put(chain, after, block if here else replace(block, section_id=chain.name, rank=_UNRANKED))
            after = block.id

    def _put(self, chain: Chain, after: str | None, block: Block) -> None:
        self._blocks[block.id], self._home[block.id] = block, chain
        chain.put(block.id, after)

    def _add_sections(self, after: str | None, headed: Sequence[tuple[str, int]]) -> list[str]:
        made = [Section(self._make_id("section"), _UNRANKED, heading, level) for heading, level in headed]
        for section in made:
            self._sections[section.id] = section
            self._order.put(section.id, after)
            after = section.id
        return [section.id for section in made]

    def _chain(self, section_id: str) -> Chain:
        """The order of a section's blocks; opens the section."""
        chain = self._chains.get(section_id)
        if chain is None:
            blocks = {block.id: block for block in self.head(section_id).blocks}
            chain = self._chains[section_id] = Chain(section_id, blocks)
            self._blocks.update(blocks)
            self._home.update(dict.fromkeys(blocks, chain))
            for block_id in blocks:
                del self._unopened[block_id]
        return chain

    def _home_of(self, block_id: str) -> Chain:
        if block_id in self._unopened:
            return self._chain(self._unopened[block_id])
        if block_id not in self._home:
            raise missing("block", self._tree.document_id, block_id)
        return self._home[block_id]

    def _demand_in(self, chain: Chain, after: str | None) -> None:
        if after is not None and self._home.get(after) is not chain:
            raise missing("block", self._tree.document_id, after)

    def find_preamble(self) -> str | None:
        """The section before the first heading, if there is one."""
        first = self._order.first
        return first if first is not None and self._sections[first].level == 0 else None

    def _section_place(self, after: str | None) -> str | None:
        """The section to insert behind."""
        return self.find_preamble() if after is None else self.head(after).id

    def _below(self, section_id: str) -> Iterator[str]:
        """The sections below this one in the outline."""
        level = self.head(section_id).level
        onwards = self._order.onwards(section_id)
        next(onwards)
        for one in onwards:
            if self._sections[one].level <= level:
                return
            yield one


def _ranked(section: Section) -> Section:
    """The section with ranks for all its blocks; the same object if it has them."""
    blocks = tuple(with_ranks(section.blocks))
    return section if blocks == section.blocks else replace(section, blocks=blocks)

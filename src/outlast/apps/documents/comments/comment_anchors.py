"""Locate a comment in the current document. Pure."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

from outlast.apps.documents.comments.quotes import Effort, Text, find_again
from outlast.apps.documents.comments.shapes import AROUND_CHARS, QUOTE_CHARS, Quote
from outlast.base.errors import InputTooLarge, MalformedInput, NotFound
from outlast.base.records import dataclass
from outlast.kernel.limits.rules import clean, is_blank


@dataclass(frozen=True, slots=True)
class Anchor:
    """The place of a comment: a section, a block in it, or a quote in that; all None: the whole document. `orphaned`:
    the narrowest of them is not in the document now; the ids stay, because it may come back."""

    section_id: str | None = None
    block_id: str | None = None
    quote: Quote | None = None
    orphaned: bool = False

    def shown(self) -> tuple[object, ...]:
        """The visible part of it: the text around a quote only serves to find it."""
        return self.section_id, self.block_id, self.quote and self.quote.text, self.orphaned


WHOLE_DOCUMENT: Final = Anchor()


class Content:
    """A document's sections (ids), and its blocks (id, section, Markdown) in the order of the text. `touched`: ids of
    sections and blocks that just changed."""

    def __init__(
        self, sections: Collection[str], blocks: Sequence[tuple[str, str, str]], touched: Collection[str] = ()
    ) -> None:
        self.sections = frozenset(sections)
        self.section_of = {block_id: section_id for block_id, section_id, _ in blocks}
        self.effort = Effort()
        self._texts = [Text(block_id, markdown) for block_id, _, markdown in blocks]
        self._at: dict[str | None, int] = {text.block_id: place for place, text in enumerate(self._texts)}
        self._in_section: dict[str | None, list[int]] = {}
        for place, (_, section_id, _) in enumerate(blocks):
            self._in_section.setdefault(section_id, []).append(place)
        self._touched = [self._at[one] for one in touched if one in self._at]

    def near(self, anchor: Anchor) -> list[Text]:
        """The blocks to search, in the order of the text: its own, the `touched` ones, and those of its section. A
        lost quote is searched only in blocks that changed since. Each is prepared once."""
        around = [] if anchor.orphaned else self._in_section.get(anchor.section_id, [])
        within = self.effort.spend(len(around) + len(self._touched))
        places = {*around, *self._touched} if within else set[int]()
        if anchor.block_id in self._at:
            places.add(self._at[anchor.block_id])
        return [self._texts[place] for place in sorted(places)]


def place(anchor: Anchor, content: Content) -> Anchor:
    """The anchor's current place. A block is followed wherever it moved; a quote is searched in its block, in blocks
    that were `touched` and, unless it was lost before, in the section around it. Many long quotes are searched as far
    as the content's `effort` allows: after that, lost quotes stay lost until something is touched again."""
    section_id = content.section_of.get(anchor.block_id or "", anchor.section_id)
    here = replace(anchor, section_id=section_id)
    if anchor.quote is not None:
        found = find_again(anchor.quote, anchor.block_id, content.near(here), content.effort)
        if found is None:
            return replace(here, orphaned=True)
        return Anchor(content.section_of[found.block_id], found.block_id, found.quote)
    if anchor.block_id is not None:
        return replace(here, orphaned=anchor.block_id not in content.section_of)
    return replace(here, orphaned=section_id is not None and section_id not in content.sections)


def new_anchor(content: Content, section_id: str | None, block_id: str | None, quote: Quote | None) -> Anchor:
    """The anchor of a new comment. If its block or quote was just deleted, the comment is orphaned from the start: its
    text is worth keeping. Raises `NotFound` for a section that is not in the document, `MalformedInput`,
    `InputTooLarge`."""
    if quote is not None:
        quote = checked_quote(quote)
        if block_id is None:
            raise MalformedInput("A quote must be in a block.", hint="Give the block_id too.", field="block_id")
    home = content.section_of.get(block_id or "", section_id)
    if block_id is not None and home is None:
        raise NotFound("This block is no longer in the document.", noun="block", id=block_id)
    if home is not None and home not in content.sections:
        raise NotFound("This section is no longer in the document.", noun="section", id=home)
    return place(Anchor(home, block_id, quote), content)


def checked_quote(quote: Quote) -> Quote:
    """The quote as it is stored. Raises `MalformedInput` if it has no text, `InputTooLarge`."""
    text = clean(quote.text)
    if is_blank(text):
        raise MalformedInput("The quote is empty.", hint="Select some text.", field="quote.text")
    if len(text) > QUOTE_CHARS:
        raise InputTooLarge(
            f"The quote has {len(text):,} characters; at most {QUOTE_CHARS:,} are accepted.",
            hint="Select less, or comment on the whole block.",
            size_chars=len(text),
            limit_chars=QUOTE_CHARS,
        )
    before, behind = clean(quote.prefix)[-AROUND_CHARS:], clean(quote.suffix)[:AROUND_CHARS]
    return Quote(text=text, prefix=before, suffix=behind)

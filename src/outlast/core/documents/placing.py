"""Where a comment belongs in a document as it is now. Pure."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from outlast.base.document_data import Quote
from outlast.base.errors import InputTooLarge, MalformedInput, NotFound
from outlast.core.documents.quotes import Text, find_again
from outlast.core.limits.rules import clean, is_blank

QUOTE_CHARS = 5_000
AROUND_CHARS = 200


@dataclass(frozen=True, slots=True)
class Anchor:
    """What a comment is about: a section, a block in it, or a quote in that; all None: the whole document. `orphaned`:
    the narrowest of them is not in the document now; the ids stay, for it may come back."""

    section_id: str | None = None
    block_id: str | None = None
    quote: Quote | None = None
    orphaned: bool = False

    def shown_as(self, other: "Anchor") -> bool:
        """Whether people see both at the same place: surroundings of a quote are for finding it only."""
        return replace(self, quote=_words(self.quote)) == replace(other, quote=_words(other.quote))


class Content:
    """A document's sections (ids), and its blocks (id, section, Markdown) in the order of the text."""

    def __init__(self, sections: Collection[str], blocks: Sequence[tuple[str, str, str]]) -> None:
        self.sections = frozenset(sections)
        self.section_of = {block_id: section_id for block_id, section_id, _ in blocks}
        self._blocks = blocks

    @cached_property
    def texts(self) -> list[Text]:
        """The blocks, to search in: each is prepared once, at the first search."""
        return [Text(block_id, markdown) for block_id, _, markdown in self._blocks]


def place(anchor: Anchor, content: Content, touched: Collection[str] = ()) -> Anchor:
    """Where the anchor is now. A block is followed wherever it moved; a quote is searched in its block, in the section
    around it and in the blocks that were `touched`."""
    section_id = content.section_of.get(anchor.block_id or "", anchor.section_id)
    here = replace(anchor, section_id=section_id)
    if anchor.quote is not None:
        nearby = [text for text in content.texts if _is_near(text, here, content, touched)]
        found = find_again(anchor.quote, anchor.block_id, nearby)
        if found is None:
            return replace(here, orphaned=True)
        return Anchor(content.section_of[found.block_id], found.block_id, found.quote)
    if anchor.block_id is not None:
        return replace(here, orphaned=anchor.block_id not in content.section_of)
    return replace(here, orphaned=section_id is not None and section_id not in content.sections)


def new_anchor(content: Content, section_id: str | None, block_id: str | None, quote: Quote | None) -> Anchor:
    """Where somebody puts a new comment. A block or a quote that just went makes it orphaned: what was said is worth
    keeping. Raises `NotFound` for a section that is not the document's, `MalformedInput`, `InputTooLarge`."""
    if quote is not None:
        quote = checked_quote(quote)
        if block_id is None:
            raise MalformedInput("A quote stands in a block.", hint="Name the block too.", field="block_id")
    home = content.section_of.get(block_id or "", section_id)
    if block_id is not None and home is None:
        raise NotFound(f"There is no block {block_id} in this document.", noun="block", id=block_id)
    if home is not None and home not in content.sections:
        raise NotFound(f"There is no section {home} in this document.", noun="section", id=home)
    return place(Anchor(home, block_id, quote), content)


def checked_quote(quote: Quote) -> Quote:
    """A quote that can be kept. Raises `MalformedInput` for one without text, `InputTooLarge`."""
    text = clean(quote.text)
    if is_blank(text):
        raise MalformedInput("The quote is empty.", hint="Select some text.", field="quote.text")
    if len(text) > QUOTE_CHARS:
        raise InputTooLarge(
            f"The quote has {len(text):,} characters; at most {QUOTE_CHARS:,} are kept.",
            hint="Select less, or comment on the whole block.",
            size_chars=len(text),
            limit_chars=QUOTE_CHARS,
        )
    before, behind = clean(quote.prefix)[-AROUND_CHARS:], clean(quote.suffix)[:AROUND_CHARS]
    return Quote(text=text, prefix=before, suffix=behind)


def _is_near(text: Text, anchor: Anchor, content: Content, touched: Collection[str]) -> bool:
    same_section = content.section_of[text.block_id] == anchor.section_id
    return same_section or text.block_id == anchor.block_id or text.block_id in touched


def _words(quote: Quote | None) -> Quote | None:
    return None if quote is None else Quote(text=quote.text)

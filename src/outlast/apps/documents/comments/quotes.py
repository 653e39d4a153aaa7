"""Locate selected text again after a document changed: by the text itself and by the text around it. Pure.

People select what a browser shows, documents hold Markdown, and both are edited. So texts are compared in two ways:
as they are, and by their *bones*: without spaces, and without the marks of Markdown and the addresses of links. A
quote that is equal in bones is the same. Of several places the one with the most similar surroundings counts; a place
with no similar surroundings does not count, unless the text is long enough to identify itself. In its own block a
quote is also found if its words were changed, between its former surroundings, as long as half of it remains.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from html import unescape
from itertools import pairwise
from typing import Final, NamedTuple

from outlast.apps.documents.comments.shapes import Quote
from outlast.base.records import dataclass

KEPT: Final = 32
"""Characters of surroundings stored with a quote, on each side."""
DISTINCT: Final = 16
"""A text of at least this many bones is found without its surroundings too."""
AGREEING: Final = 0.3
"""A shorter text is found only if at least this share of the text next to it remains."""
ALIKE: Final = 0.5
"""Text between the surroundings is the quote, changed, if this share of it remains."""
ANCHOR: Final = 12
"""Bones next to the quote, on each side, that identify it, and delimit a changed one."""
MAX_PLACES: Final = 200
MAX_EFFORT: Final = 1_000_000
"""Maximum characters compared for all quotes of one change together: about 0.3 s. Writers wait for it."""
HOME: Final = 0.25

_TOKENS: Final = re.compile(
    r"""
      (?P<drop>
          ^[^\S\n]{0,40}(?:`{3,}|~{3,})[^\n]*$                             # a fence
        | ^[^\S\n]{0,40}(?:\|[^\S\n]{0,40})?:?-{3}[-:|\ \t]*+$             # the rule of a table, or a rule
        | ^[^\S\n]{0,40}(?:[-*+]|\d{1,9}[.)])[^\S\n]+(?:\[[ xX]\][^\S\n]+)?  # a bullet or number of a list
        | ^[^\S\n]{0,40}(?:\#{1,6}[^\S\n]+|>[^\S\n]?)                      # a heading, a quotation
        | \]\([^()\s]*(?:[^\S\n]+"[^"\n]*")?\)                             # the target of a link
        | [*~`\[\]|\\]
      )
    | (?P<entity>&(?:\#\d{1,7}|\#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});)
    | (?P<space>\n|[^\S\n]+)
    | (?P<plain>.)
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
_MARKS: Final = frozenset("*~`[]|\\_#>")
_UNMARKED: Final = str.maketrans("", "", "".join(_MARKS))
_WORD: Final = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Place:
    """A quote's current place in a document, and the quote to store from now on."""

    block_id: str
    quote: Quote


class Effort:
    """The remaining effort for locating quotes, in characters compared. Afterwards quotes are only found in their own
    blocks, and only unchanged."""

    def __init__(self, left: int = MAX_EFFORT) -> None:
        self.left = left

    def spend(self, characters: int) -> bool:
        """Use up this many characters; True if some effort remains."""
        self.left -= characters
        return self.left > 0


class Text:
    """A block's Markdown, prepared for searching: `text` is about what people see, `bones` is compared; `bones_at`
    has the position of each bone in the text."""

    def __init__(self, block_id: str, markdown: str) -> None:
        self.block_id = block_id
        self.markdown = markdown

    @property
    def unread(self) -> int:
        """The number of characters still to be prepared."""
        return 0 if "text" in self.__dict__ else len(self.markdown)

    @cached_property
    def text(self) -> str:
        return _shown(self.markdown)

    @cached_property
    def bones(self) -> str:
        return _bones(self.text)

    @cached_property
    def bones_at(self) -> list[int]:
        return [place for place, char in enumerate(self.text) if char not in _MARKS and not char.isspace()]


def find_again(quote: Quote, home: str | None, texts: Sequence[Text], effort: Effort | None = None) -> Place | None:
    """The place of the quote in these blocks (`home`, its own, may be among them): the one where words and surroundings
    agree most, its own block before others, earlier before later. None if there is none, or if `effort`, at most
    `MAX_EFFORT` characters, is used up."""
    sought = _Sought(quote, effort or Effort())
    own = next((text for text in texts if text.block_id == home), None)
    if own is not None and not sought.effort.spend(own.unread):
        return Place(own.block_id, quote) if quote.text in own.markdown else None
    best = None if own is None else _same(sought, own)
    if best is not None:
        best = best._replace(sure=best.sure + HOME)
    for text in texts if best is None or best.sure < 1 else ():  # a certain match cannot be beaten
        found = _same(sought, text) if text is not own and sought.may_be_in(text) else None
        if found is not None and (best is None or found.sure > best.sure):
            best = found
    if best is None and own is not None:
        best = _between(sought, own)
    return None if best is None else Place(best.text.block_id, _kept(quote, best))


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The bones of a quote and of its surroundings. `plain`: taken from shown text, not from Markdown."""

    words: str
    before: str
    after: str
    plain: bool = True


class _Match(NamedTuple):
    """A match of the quote: start and end in the shown text, certainty, and if the words differ."""

    text: Text
    first: int
    after: int
    sure: float
    differs: bool


class _Sought:
    """A quote that is being located. Its bones are computed once, and only if needed."""

    def __init__(self, quote: Quote, effort: Effort) -> None:
        self.quote, self.effort = quote, effort
        self._first = _WORD.search(quote.text)

    @cached_property
    def plain(self) -> _Wanted:
        """The quote as shown text."""
        return _Wanted(_bones(self.quote.text), _bones(self.quote.prefix), _bones(self.quote.suffix))

    @cached_property
    def marked(self) -> _Wanted | None:
        """The quote as Markdown, if that differs: programs send the source text."""
        parts = self.quote.text, self.quote.prefix, self.quote.suffix
        if not self.effort.spend(sum(map(len, parts))):
            return None
        words, before, after = (_bones(_shown(part)) for part in parts)
        wanted = _Wanted(words, before, after, plain=False)
        return None if replace(wanted, plain=True) == self.plain else wanted

    @property
    def readings(self) -> Iterator[_Wanted]:
        if self.plain.words:
            yield self.plain
        if self.marked is not None and self.marked.words:
            yield self.marked

    @cached_property
    def least(self) -> int:
        """The minimum length of a text that can contain the quote."""
        return min((len(wanted.words) for wanted in self.readings), default=1)

    def may_be_in(self, text: Text) -> bool:
        """A cheap pre-check: a block without the quote's first word cannot contain it. Also False when the effort
        is used up."""
        if not self.effort.spend(1 + len(text.markdown) // 100):
            return False
        if self._first is not None and self._first[0] not in text.markdown:
            return False
        return len(text.markdown) >= self.least and self.effort.spend(text.unread)


def _same(sought: _Sought, text: Text) -> _Match | None:
    """The best place where the text equals the quote."""
    for wanted in sought.readings:
        best: tuple[float, int] | None = None
        for place in _places(wanted.words, text.bones):
            if not sought.effort.spend(len(wanted.before) + len(wanted.after)) and best is not None:
                break
            agreement = _agreement(wanted, text.bones, place)
            if best is None or agreement > best[0]:
                best = agreement, place
        if best is not None and _counts(wanted, text.bones, best[1]):
            first, last = text.bones_at[best[1]], text.bones_at[best[1] + len(wanted.words) - 1]
            return _Match(text, first, last + 1, best[0], differs=not wanted.plain)
    return None


def _between(sought: _Sought, text: Text) -> _Match | None:
    """The text now between the quote's surroundings, if half of the quote is still in it."""
    bones, at = text.bones, text.bones_at
    for wanted in map(_near, sought.readings):
        longest = 3 * len(wanted.words)
        starts = [place + len(wanted.before) for place in _places(wanted.before, bones)]
        best: tuple[float, int, int] | None = None
        for start in starts if wanted.before else [0]:
            room = start + longest + len(wanted.after)
            end = bones.find(wanted.after, start, room) if wanted.after else len(bones)
            if end <= start or end - start > longest:
                continue
            if not sought.effort.spend(len(wanted.words) + end - start):
                break
            likeness = _likeness(wanted.words, bones[start:end])
            if likeness >= ALIKE and (best is None or likeness > best[0]):
                best = likeness, start, end
        if best is not None:
            return _Match(text, at[best[1]], at[best[2] - 1] + 1, best[0], differs=True)
    return None


def _kept(quote: Quote, found: _Match) -> Quote:
    """The quote to store from now on: its own words while they are the same, new surroundings."""
    shown, first, after = found.text.text, found.first, found.after
    words = shown[first:after] if found.differs else quote.text
    return Quote(text=words, prefix=shown[max(first - KEPT, 0) : first], suffix=shown[after : after + KEPT])


def _places(wanted: str, bones: str) -> Iterator[int]:
    place = bones.find(wanted)
    for _ in range(MAX_PLACES):
        if place < 0:
            return
        yield place
        place = bones.find(wanted, place + 1)


def _near(wanted: _Wanted) -> _Wanted:
    """The quote with only the text next to it."""
    return replace(wanted, before=wanted.before[-ANCHOR:], after=wanted.after[:ANCHOR])


def _agreement(wanted: _Wanted, bones: str, start: int) -> float:
    """The share of a quote's surroundings that is also around this place."""
    before, after, end = wanted.before, wanted.after, start + len(wanted.words)
    if not before + after:
        return 0.0
    left = right = 0
    while left < min(len(before), start) and before[-1 - left] == bones[start - 1 - left]:
        left += 1
    while right < min(len(after), len(bones) - end) and after[right] == bones[end + right]:
        right += 1
    return (left + right) / (len(before) + len(after))


def _counts(wanted: _Wanted, bones: str, place: int) -> bool:
    """True if the match is the quote, not the same word by chance."""
    if len(wanted.words) >= DISTINCT or not wanted.before + wanted.after:
        return True
    return _agreement(_near(wanted), bones, place) >= AGREEING


def _likeness(one: str, other: str) -> float:
    """The share of neighbouring pairs of characters that two texts have in common, 0 to 1."""
    if len(one) < 2 or len(other) < 2:
        return float(one == other)
    pairs, others = (Counter(map("".join, pairwise(text))) for text in (one, other))
    return 2 * (pairs & others).total() / (len(one) + len(other) - 2)


def _bones(text: str) -> str:
    """The bones of a shown text."""
    return "".join(text.translate(_UNMARKED).split())


def _shown(markdown: str) -> str:
    chars: list[str] = []
    for token in _TOKENS.finditer(markdown):
        match token.lastgroup:
            case "plain":
                chars.append(token[0])
            case "entity":
                chars.append(unescape(token[0])[:1] or " ")
            case "space" if chars and chars[-1] != " ":
                chars.append(" ")
    return "".join(chars)

"""Merge two changes of one text. Pure.

The classic *diff3* (as S. Khanna, K. Kunal and B. Pierce describe it in "A Formal Investigation of Diff3", 2007): the
parts of the base that both sides keep are stable. Between two stable parts the side that changed something wins; if
both did, differently, it is a conflict. Lines are merged first, then words within lines that both changed. A part
without a word in it is not stable: changes of both sides next to each other are a conflict rather than a guess.

Bounds: texts of up to `MAX_CHARACTERS` are compared word by word, in at most about 0.3 s; longer ones line by line
only, and those of more than `MAX_LINES` not at all. The time grows with the length alone: writers wait for it.
"""

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Final, Literal

from outlast.apps.documents.edits.token_matches import Pair, has_word, lines_of, match, match_words, words_of
from outlast.base.records import dataclass

HunkKind = Literal[
    "same",  # neither side changed it
    "current",  # only the current text changed it
    "wanted",  # only the wanted text changed it
    "both",  # both changed it in the same way
    "conflict",  # both changed it differently: a person decides
]
MAX_CHARACTERS: Final = 20_000
MAX_LINES: Final = 8_000
MAX_MERGED: Final = 50_000
"""The merged text is parsed into blocks while other writers wait. A person decides about a longer one."""


@dataclass(frozen=True, slots=True)
class MergeHunk:
    """A stretch of the three texts."""

    kind: HunkKind
    base: str
    current: str
    wanted: str

    @property
    def text(self) -> str | None:
        """The merged text of this stretch, or None if a person must decide."""
        if self.kind == "conflict":
            return None
        return self.wanted if self.kind == "wanted" else self.current


@dataclass(frozen=True, slots=True)
class Merge:
    """If `text` is None, `hunks` has conflicts. Every inserted word of both sides is in `text`, no deleted one is. The
    hunks in order make up each of the texts."""

    text: str | None
    hunks: tuple[MergeHunk, ...]


def merge(base: str, current: str, wanted: str) -> Merge:
    """The changes from `base` to `wanted`, applied on top of those from `base` to `current`. Any length, also empty.
    Deterministic; swapping the sides only swaps the names."""
    hunks = tuple(_joined(_hunks(base, current, wanted)))
    clean = [hunk.text for hunk in hunks if hunk.text is not None]
    return Merge("".join(clean) if len(clean) == len(hunks) else None, hunks)


def _hunks(base: str, current: str, wanted: str) -> list[MergeHunk]:
    whole = _hunk(base, current, wanted)
    if whole.kind == "both" or max(text.count("\n") for text in (base, current, wanted)) > MAX_LINES:
        return [whole]
    hunks = _compared(whole, lines_of, match)
    return [part for hunk in hunks for part in _finer(hunk)]


def _finer(hunk: MergeHunk) -> list[MergeHunk]:
    """Split a conflict of lines word by word."""
    if hunk.kind != "conflict" or max(map(len, (hunk.base, hunk.current, hunk.wanted))) > MAX_CHARACTERS:
        return [hunk]
    return _compared(hunk, words_of, match_words)


def _compared(
    hunk: MergeHunk, tokens_of: Callable[[str], list[str]], matched: Callable[[list[str], list[str]], list[Pair]]
) -> list[MergeHunk]:
    base, current, wanted = tokens_of(hunk.base), tokens_of(hunk.current), tokens_of(hunk.wanted)
    ours, theirs = dict(matched(base, current)), dict(matched(base, wanted))
    firm = [(at, ours[at], theirs[at]) for at in range(len(base)) if at in ours and at in theirs]
    edges = [(-1, -1, -1), *firm, (len(base), len(current), len(wanted))]
    hunks: list[MergeHunk] = []
    for (a, b, c), (x, y, z) in pairwise(edges):
        texts = (base[a + 1 : x], current[b + 1 : y], wanted[c + 1 : z])
        if any(texts):
            hunks.append(_hunk(*("".join(text) for text in texts)))
        if x < len(base):
            hunks.append(MergeHunk("same", base[x], base[x], base[x]))
    return _settled(list(_joined(hunks)))


def _hunk(base: str, current: str, wanted: str) -> MergeHunk:
    kind: HunkKind = "conflict"
    if current == wanted:
        kind = "same" if current == base else "both"
    elif current == base:
        kind = "wanted"
    elif wanted == base:
        kind = "current"
    return MergeHunk(kind, base, current, wanted)


def _joined(hunks: Iterable[MergeHunk]) -> list[MergeHunk]:
    """Join neighbours of one kind."""
    joined: list[MergeHunk] = []
    for hunk in hunks:
        if joined and joined[-1].kind == hunk.kind:
            joined[-1] = _sum(hunk.kind, joined[-1], hunk)
        else:
            joined.append(hunk)
    return joined


def _settled(hunks: list[MergeHunk]) -> list[MergeHunk]:
    """The hunks, with changes of both sides joined into one conflict if no word is between them."""
    settled: list[MergeHunk] = []
    for hunk in hunks:
        settled.append(hunk)
        while count := _clashing(settled):
            settled[-count:] = [_sum("conflict", *settled[-count:])]
    return settled


def _clashing(hunks: list[MergeHunk]) -> int:
    """The number of last hunks that form one conflict; 0 if none."""
    if len(hunks) >= 2 and _clash(hunks[-2], hunks[-1]):
        return 2
    if len(hunks) < 3 or hunks[-2].kind != "same" or has_word([hunks[-2].base]):
        return 0
    return 3 if _clash(hunks[-3], hunks[-1]) else 0


def _clash(one: MergeHunk, two: MergeHunk) -> bool:
    kinds = {one.kind, two.kind}
    return kinds == {"current", "wanted"} or ("conflict" in kinds and not kinds & {"same", "both"})


def _sum(kind: HunkKind, *hunks: MergeHunk) -> MergeHunk:
    texts = ("".join(getattr(hunk, side) for hunk in hunks) for side in ("base", "current", "wanted"))
    return MergeHunk(kind, *texts)

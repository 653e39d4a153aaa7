"""Match equal tokens of two texts: the basis of merging. Pure.

Anchors first, as Bram Cohen's *patience diff* finds them: tokens that occur once in both texts, the longest increasing
run of them; then again between each two anchors. The rest between them is compared by a weighted longest common
subsequence, within a budget. Tokens beyond the budget count as replaced: coarser, never wrong.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Final

from outlast.base.records import dataclass

Pair = tuple[int, int]
"""The positions of one token in both texts."""

GAP_CELLS: Final = 40_000
"""Maximum pairs of tokens compared in one stretch without anchors."""
TOTAL_CELLS: Final = 400_000
"""Maximum pairs compared in all stretches of two texts together: about 0.1 s."""
DEEPEST: Final = 12
FEW_WORDS: Final = 3

# Scripts without spaces between words have a token for each character.
_UNSPACED: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
# Compiled at the first use, which takes milliseconds.
_WORDS: Final = rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])[^\W_])+|\n|[^\S\n]+|[\W_]"
_LINES: Final = re.compile(r"[^\n]*\n|[^\n]+")


def lines_of(text: str) -> list[str]:
    """The lines, each with its end; joined they are the text."""
    return _LINES.findall(text)


def words_of(text: str) -> list[str]:
    """Words, spaces, line ends and signs; joined they are the text."""
    return re.findall(_WORDS, text)


def has_word(tokens: Sequence[str]) -> bool:
    """True if the tokens are more than spaces and signs."""
    return any(any(map(str.isalnum, token)) for token in tokens)


def match(one: Sequence[str], two: Sequence[str]) -> list[Pair]:
    """Positions of equal tokens, ascending in both. Deterministic."""
    budget = TOTAL_CELLS
    pairs: list[Pair] = []
    open_areas = [_Area(0, len(one), 0, len(two), 0)]
    while open_areas:
        area = open_areas.pop()
        inner = _trim(one, two, area, pairs)
        if not inner.cells:
            continue
        anchors = _anchors(one, two, inner) if inner.depth < DEEPEST else []
        if anchors:
            pairs += anchors
            edges = [(inner.a - 1, inner.c - 1), *anchors, (inner.b, inner.d)]
            open_areas += [_Area(a + 1, b, c + 1, d, inner.depth + 1) for (a, c), (b, d) in pairwise(edges)]
        elif inner.cells <= GAP_CELLS and (budget := budget - inner.cells) >= 0:
            pairs += _common(one, two, inner)
    return sorted(pairs)


def match_words(one: Sequence[str], two: Sequence[str]) -> list[Pair]:
    """Like `match`, without the few words that happen to be equal in the middle of rewritten text: a rewritten sentence
    is one change (after the *semantic cleanup* of Neil Fraser's diff-match-patch)."""
    ends = _Lengths(one, two)
    kept: list[list[Pair]] = []
    runs = [*_runs(match(one, two)), [(len(one), len(two))]]
    for run, following in pairwise(runs):
        kept.append(run)
        while kept and _by_chance(ends, kept, following[0]):
            kept.pop()
    return [pair for run in kept for pair in run]


def _by_chance(ends: "_Lengths", kept: list[list[Pair]], following: Pair) -> bool:
    run, previous = kept[-1], kept[-2][-1] if len(kept) > 1 else (-1, -1)
    if ends.words[run[-1][0] + 1] - ends.words[run[0][0]] > FEW_WORDS:
        return False
    size = ends.one[run[-1][0] + 1] - ends.one[run[0][0]]
    return size <= ends.changed(previous, run[0]) and size <= ends.changed(run[-1], following)


class _Lengths:
    """The number of characters before each token, and in the first text the number of words."""

    def __init__(self, one: Sequence[str], two: Sequence[str]) -> None:
        self.one, self.two = ([0, *accumulate(len(token) for token in text)] for text in (one, two))
        self.words = [0, *accumulate(has_word([token]) for token in one)]

    def changed(self, before: Pair, after: Pair) -> int:
        """Characters between two pairs, in the text that has more of them."""
        ours = self.one[after[0]] - self.one[before[0] + 1]
        return max(ours, self.two[after[1]] - self.two[before[1] + 1])


@dataclass(frozen=True, slots=True)
class _Area:
    """A stretch of both texts: from a to b of the first, from c to d of the second."""

    a: int
    b: int
    c: int
    d: int
    depth: int

    @property
    def cells(self) -> int:
        return (self.b - self.a) * (self.d - self.c)


def _trim(one: Sequence[str], two: Sequence[str], area: _Area, pairs: list[Pair]) -> _Area:
    """The area without its equal start and end, which are added to the pairs."""
    a, b, c, d = area.a, area.b, area.c, area.d
    while a < b and c < d and one[a] == two[c]:
        pairs.append((a, c))
        a, c = a + 1, c + 1
    while a < b and c < d and one[b - 1] == two[d - 1]:
        b, d = b - 1, d - 1
        pairs.append((b, d))
    return _Area(a, b, c, d, area.depth)


def _anchors(one: Sequence[str], two: Sequence[str], area: _Area) -> list[Pair]:
    ours, theirs = Counter(one[area.a : area.b]), Counter(two[area.c : area.d])
    place = {two[at]: at for at in range(area.c, area.d) if theirs[two[at]] == 1}
    both = [(at, place[one[at]]) for at in range(area.a, area.b) if one[at] in place and ours[one[at]] == 1]
    return rising([pair for pair in both if has_word(one[pair[0]])])


def rising(pairs: list[Pair]) -> list[Pair]:
    """The longest run of pairs that rises in both texts (patience sorting)."""
    tops: list[int] = []  # of each pile, the place in the second text
    piles: list[int] = []  # of each pile, the index of its top pair
    before: list[int] = []
    for index, (_, at) in enumerate(pairs):
        pile = bisect_left(tops, at)
        before.append(piles[pile - 1] if pile else -1)
        tops[pile : pile + 1] = [at]
        piles[pile : pile + 1] = [index]
    run, index = [], piles[-1] if piles else -1
    while index >= 0:
        run.append(pairs[index])
        index = before[index]
    return run[::-1]


def _common(one: Sequence[str], two: Sequence[str], area: _Area) -> list[Pair]:
    """The longest common subsequence; a word weighs more than any space or sign."""
    ours, theirs = one[area.a : area.b], two[area.c : area.d]
    weight = {token: 8 if has_word(token) else 1 for token in set(ours)}
    table = [[0] * (len(theirs) + 1)]
    for token in reversed(ours):  # table[-1][j]: the best result for the remaining tokens of both
        below, row, best, heavy = table[-1], [0] * (len(theirs) + 1), 0, weight[token]
        for at in range(len(theirs) - 1, -1, -1):
            if theirs[at] == token:
                best = max(best, below[at], below[at + 1] + heavy)
            elif below[at] > best:
                best = below[at]
            row[at] = best
        table.append(row)
    table.reverse()
    return _walk(ours, theirs, table, area)


def _walk(ours: Sequence[str], theirs: Sequence[str], table: list[list[int]], area: _Area) -> list[Pair]:
    pairs, a, c = [], 0, 0
    while a < len(ours) and c < len(theirs):
        if ours[a] == theirs[c] and table[a][c] > max(table[a + 1][c], table[a][c + 1]):
            pairs.append((area.a + a, area.c + c))
            a, c = a + 1, c + 1
        elif table[a + 1][c] >= table[a][c + 1]:
            a += 1
        else:
            c += 1
    return pairs


def _runs(pairs: list[Pair]) -> list[list[Pair]]:
    """The pairs grouped into stretches without a change."""
    runs: list[list[Pair]] = []
    for a, c in pairs:
        if runs and runs[-1][-1] == (a - 1, c - 1):
            runs[-1].append((a, c))
        else:
            runs.append([(a, c)])
    return runs

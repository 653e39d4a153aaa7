"""The trees of pages that change now, so that a patch need not read the whole page first. Rebuilt at will: nothing is
wrong, only slower, when one is missing.

A tree is lent to one transaction at a time and given back after its commit; one whose transaction failed is forgotten.
It is used only where the page's stored HTML is what it was built from.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from outlast.apps.pages.tree import Tree

MOST_TREES: Final = 64
MOST_BYTES: Final = 32_000_000  # of HTML that the kept trees stand for


@dataclass(frozen=True, slots=True)
class LiveStatistics:
    """How many trees are kept, how much HTML they stand for, and how often one was there and was not."""

    trees: int
    html_chars: int
    found: int
    missed: int


class LiveTrees:
    """At most 64 trees, those used last. Safe to use from several threads."""

    def __init__(self) -> None:
        self._trees: OrderedDict[str, tuple[str, Tree]] = OrderedDict()
        self._chars = self._found = self._missed = 0
        self._lock = Lock()

    def borrow(self, page_id: str, html: str) -> Tree | None:
        """The page's tree, for this caller alone, if it is of this HTML."""
        with self._lock:
            kept = self._pop(page_id)
            if kept is not None and kept[0] == html:
                self._found += 1
                return kept[1]
            self._missed += 1
            return None

    def give_back(self, page_id: str, html: str, tree: Tree) -> None:
        """Keep a tree of this HTML for the next change. Older ones go where there are too many."""
        with self._lock:
            self._pop(page_id)
            self._trees[page_id] = (html, tree)
            self._chars += len(html)
            while len(self._trees) > MOST_TREES or self._chars > MOST_BYTES:
                self._pop(next(iter(self._trees)))

    def forget(self, page_id: str) -> None:
        """Free what is kept of a page (it rests, or is gone)."""
        with self._lock:
            self._pop(page_id)

    def statistics(self) -> LiveStatistics:
        with self._lock:
            return LiveStatistics(len(self._trees), self._chars, self._found, self._missed)

    def _pop(self, page_id: str) -> tuple[str, Tree] | None:
        kept = self._trees.pop(page_id, None)
        if kept is not None:
            self._chars -= len(kept[0])
        return kept

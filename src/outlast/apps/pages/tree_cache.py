"""The trees of pages that change now, so that a patch need not read the whole page first. Rebuilt at will: nothing is
wrong, only slower, when one is missing.

A tree is lent to one transaction at a time and given back after its commit; one whose transaction failed is forgotten.
It is used only where the page's stored HTML is what it was built from.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from outlast.apps.pages.tree import Tree

MAX_TREES: Final = 64
MAX_CHARS: Final = 32_000_000  # of HTML that the kept trees stand for


class LiveTrees:
    """At most 64 trees, those used last. Safe to use from several threads."""

    def __init__(self) -> None:
        self._trees: OrderedDict[str, tuple[str, Tree]] = OrderedDict()
        self._chars = 0
        self._lock = Lock()

    def borrow(self, page_id: str, html: str) -> Tree | None:
        """The page's tree, for this caller alone, if it is of this HTML."""
        with self._lock:
            kept = self._pop(page_id)
            if kept is not None and kept[0] == html:
                return kept[1]
            return None

    def give_back(self, page_id: str, html: str, tree: Tree) -> None:
        """Keep a tree of this HTML for the next change. Older ones go where there are too many."""
        with self._lock:
            self._pop(page_id)
            self._trees[page_id] = (html, tree)
            self._chars += len(html)
            while len(self._trees) > MAX_TREES or self._chars > MAX_CHARS:
                self._pop(next(iter(self._trees)))

    def forget(self, page_id: str) -> None:
        """Free what is kept of a page (it rests, or is gone)."""
        with self._lock:
            self._pop(page_id)

    def __len__(self) -> int:
        return len(self._trees)

    def _pop(self, page_id: str) -> tuple[str, Tree] | None:
        kept = self._trees.pop(page_id, None)
        if kept is not None:
            self._chars -= len(kept[0])
        return kept

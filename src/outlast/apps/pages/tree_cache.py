"""The trees of recently changed pages, so that a patch need not parse the whole page first. A cache: a missing tree
only costs time.

A tree is lent to one transaction at a time and returned after its commit; if the transaction fails, it is dropped.
It is used only if it was built from the page's stored HTML.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from outlast.apps.pages.tree import Tree

MAX_TREES: Final = 64
MAX_CHARS: Final = 32_000_000  # of HTML in all cached trees


class LiveTrees:
    """At most 64 trees, the most recently used. Thread-safe."""

    def __init__(self) -> None:
        self._trees: OrderedDict[str, tuple[str, Tree]] = OrderedDict()
        self._chars = 0
        self._lock = Lock()

    def borrow(self, page_id: str, html: str) -> Tree | None:
        """The page's tree, for this caller alone, if it was built from this HTML."""
        with self._lock:
            kept = self._pop(page_id)
            if kept is not None and kept[0] == html:
                return kept[1]
            return None

    def give_back(self, page_id: str, html: str, tree: Tree) -> None:
        """Store a tree of this HTML for the next change. The oldest ones are dropped if there are too many."""
        with self._lock:
            self._pop(page_id)
            self._trees[page_id] = (html, tree)
            self._chars += len(html)
            while len(self._trees) > MAX_TREES or self._chars > MAX_CHARS:
                self._pop(next(iter(self._trees)))

    def forget(self, page_id: str) -> None:
        """Drop the tree of a page that is dormant or deleted."""
        with self._lock:
            self._pop(page_id)

    def __len__(self) -> int:
        return len(self._trees)

    def _pop(self, page_id: str) -> tuple[str, Tree] | None:
        kept = self._trees.pop(page_id, None)
        if kept is not None:
            self._chars -= len(kept[0])
        return kept

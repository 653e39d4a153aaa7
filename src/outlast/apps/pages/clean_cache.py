"""Whole pages that are sanitised before the transaction that takes them: the largest takes a third of a second,
during which other writers would wait. A cache: a page that is missing here is sanitised when it is taken.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Final

from outlast.apps.pages.refusals import Refused, too_large
from outlast.apps.pages.sanitizer import sanitised
from outlast.apps.pages.tree import inner_html

MAX_PAGES: Final = 8
MIN_CHARS: Final = 10_000  # a shorter page takes 5 ms to sanitise

Clean = tuple[str, tuple[str, ...]]
"""The sanitized HTML, and the problems to report to its author."""


class CleanPages:
    """At most 8 pages, in memory, each until it is taken. Thread-safe."""

    def __init__(self) -> None:
        self._pages: OrderedDict[tuple[str, int], Clean | Refused] = OrderedDict()
        self._lock = Lock()

    def prepare(self, html: str, most_bytes: int) -> None:
        """Sanitise a page ahead of `take`; skips a short one. Blocking: call it in a thread."""
        if len(html) < MIN_CHARS:
            return
        try:
            made: Clean | Refused = clean_page(html, most_bytes)
        except Refused as reason:
            made = reason
        with self._lock:
            self._pages[html, most_bytes] = made
            while len(self._pages) > MAX_PAGES:
                self._pages.popitem(last=False)

    def __len__(self) -> int:
        return len(self._pages)

    def take(self, html: str, most_bytes: int) -> Clean:
        """Like `clean_page`; the prepared result is removed."""
        with self._lock:
            made = self._pages.pop((html, most_bytes), None)
        if made is None:
            return clean_page(html, most_bytes)
        if isinstance(made, Refused):
            raise made
        return made


def clean_page(html: str, most_bytes: int) -> Clean:
    """The sanitised HTML of a page: at most `most_bytes`, from at most four times as many characters.
    Raises `Refused` beyond that, and for HTML that cannot be a page."""
    if len(html) > 4 * most_bytes:
        raise Refused(too_large(len(html.encode()), most_bytes))
    clean = sanitised(html)
    kept = inner_html(clean.fragment)
    if (size := len(kept.encode())) > most_bytes:
        raise Refused(too_large(size, most_bytes))
    return kept, clean.told

"""Pages that are made clean before they are taken."""

from __future__ import annotations

import orjson
import pytest

from outlast.apps.pages import clean_cache
from outlast.apps.pages.agent.line_handler import PageLines
from outlast.apps.pages.clean_cache import CleanPages, clean_page
from outlast.apps.pages.refusals import Refused
from outlast.apps.pages.tree_cache import LiveTrees
from outlast.apps.pages.versions import Rules

LONG = "<script>x</script>" + "<p>Words <b>and more</b></p>" * 2_000
MAX_BYTES = 1_000_000


def test_a_page_is_taken_as_it_was_prepared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pages, wanted = CleanPages(), clean_page(LONG, MAX_BYTES)
    pages.prepare(LONG, MAX_BYTES)
    with monkeypatch.context() as patch:
        patch.delattr(clean_cache, "sanitised")  # it is not cleaned again
        assert pages.take(LONG, MAX_BYTES) == wanted
    assert pages.take(LONG, MAX_BYTES) == wanted


def test_a_page_that_is_refused_is_refused_when_it_is_taken() -> None:
    pages, deep = CleanPages(), "<div>" * 5_000
    pages.prepare(deep, MAX_BYTES)
    for _ in range(2):
        with pytest.raises(Refused):
            pages.take(deep, MAX_BYTES)
    pages.prepare(LONG, 1_000)
    with pytest.raises(Refused):
        pages.take(LONG, 1_000)


def test_few_pages_are_kept() -> None:
    pages = CleanPages()
    for number in range(20):
        pages.prepare(f"{LONG}{number}", MAX_BYTES)
    assert len(pages) == clean_cache.MAX_PAGES


def test_the_whole_pages_among_lines_are_prepared_and_nothing_else_raises() -> None:
    rules = Rules(LiveTrees())
    full = orjson.dumps({"type": "full", "html": LONG}).decode()
    PageLines(rules, dormant_after_s=60).prepare(["prose", "{" * 20_000, full, '{"type":"full"'])
    assert len(rules.clean) == 1

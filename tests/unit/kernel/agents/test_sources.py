"""Sources of a tool's result become links that are safe to show."""

from __future__ import annotations

from outlast import Source
from outlast.kernel.agents.sources import MAX_SOURCES, sources_part


def test_a_source_is_shown_once_with_its_title_on_one_line() -> None:
    sources = [
        Source("https://a.example/", " Terms\nof use "),
        Source("https://a.example/", "again"),
        Source("http://b"),
    ]
    (part,) = sources_part(sources, "call_1")
    assert part.call_id == "call_1"
    assert [(one.url, one.title) for one in part.sources] == [("https://a.example/", "Terms of use"), ("http://b", "")]


def test_what_is_no_web_address_is_left_out() -> None:
    sources = [Source("javascript:alert(1)"), Source("/v1/session"), Source(f"https://x/{'x' * 2_000}"), Source("")]
    assert sources_part(sources, "call_1") == []


def test_the_number_and_length_of_sources_are_bounded() -> None:
    (part,) = sources_part([Source(f"https://x.example/{n}", "t" * 500) for n in range(30)], "call_1")
    assert len(part.sources) == MAX_SOURCES
    assert {len(one.title) for one in part.sources} == {200}

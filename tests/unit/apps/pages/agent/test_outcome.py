"""What a run says of itself in its lines."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.apps.pages.agent.finisher import heading_of
from outlast.apps.pages.agent.modules import plain_path, wrong_with
from outlast.apps.pages.agent.outcome import outcome_of
from outlast.kernel.runs.shapes import UsageData
from outlast_sandbox.module_imports import Import, missing


def line(**fields: object) -> str:
    return json.dumps(fields)


def module(path: str = "lib/a.ts", **more: object) -> dict[str, object]:
    return {"path": path, "description": "Does it", "exports": ["a"], "usage": "import …", **more}


def test_the_last_word_counts_over_all_turns() -> None:
    first = "\n".join([line(type="full", html="<p>", title="One"), line(type="summary", text="a → b"), "Hello"])
    second = "\n".join([line(type="summary", text="c → d"), line(type="stats", issues=3), "there"])
    found = outcome_of([first, second])
    assert (found.title, found.summary, found.prose, found.stats) == ("One", "c → d", "Hello\nthere", {"issues": 3})


def test_modules_are_kept_by_path_with_the_last_description() -> None:
    said = [
        line(type="code_modules", modules=[module("./lib/a.ts"), module("lib/b.ts")]),
        line(type="code_modules", modules=[module("/workspace/lib/a.ts", description="Better")]),
    ]
    found = outcome_of(said).modules
    assert list(found) == ["lib/a.ts", "lib/b.ts"]
    assert found["lib/a.ts"].description == "Better"


def test_modules_that_cannot_be_ones_are_left_out() -> None:
    bad = [module(path) for path in ("../a.ts", "library/a.ts", "a.md", "a b.ts", f"{'a' * 90}.ts")]
    assert outcome_of([line(type="code_modules", modules=bad)]).modules == {}


@pytest.mark.parametrize("path", ["lib/a.ts", "a.py", "x/y/z.mjs"])
def test_a_plain_path_of_code_can_be_a_module(path: str) -> None:
    assert wrong_with(path) == ""


@given(st.lists(st.text()))
def test_any_text_gives_an_outcome(said: list[str]) -> None:
    for path in outcome_of(said).modules:
        assert plain_path(path) == path


def test_exports_are_compared_by_name_and_types_count_as_there() -> None:
    found = Import(frozenset({"openIssues", "default"}))
    source = "export interface Issue {}\nexport type Page = number\n"
    announced = ("openIssues(page)", "Issue", "Page", "close")
    assert missing(announced, found, source) == ["close"]


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<main><h1 id='t'>Open <b>issues</b> &amp; more</h1></main>", "Open issues & more"),
        ("<h2>Second</h2>", ""),
        (f"<h1>{'long ' * 40}</h1>", f"{('long ' * 12)[:59]}…"),
    ],
)
def test_a_page_without_a_title_is_called_by_its_first_heading(html: str, title: str) -> None:
    assert heading_of(html) == title


@pytest.mark.parametrize(
    ("tokens", "cached", "share"), [(0, 0, None), (100, 0, 0.0), (300, 100, 0.3333), (10, 20, 1.0)]
)
def test_the_cached_share_is_of_all_that_was_read(tokens: int, cached: int, share: float | None) -> None:
    assert UsageData(input_tokens=tokens, cached_tokens=cached).cached_share == share

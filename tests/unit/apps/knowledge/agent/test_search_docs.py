"""What a model reads of a search."""

from __future__ import annotations

import orjson
import pytest

from outlast.apps.knowledge.agent.search_docs import CONTENT_CHARS, search_docs_tool, told
from outlast.base.errors import ArgumentsInvalid
from outlast.kernel.library.search import HitAnswer, HitScores, PackageAnswer, SearchReply

DOC = HitAnswer(
    type="doc",
    id="pas_1",
    heading="Issues › Create",
    text="Call `createIssue`.",
    url="https://docs.example/issues#create",
    package="npm:tracker",
    version="2.1.0",
    fetched_at="2030-01-01T00:00:00.000Z",
    score=0.9,
    scores=HitScores(words=1.0),
    terms=[],
    source_id="src_1",
    usage="",
    verified=True,
)
MODULE = DOC.model_copy(
    update={"type": "module", "heading": "lib/tracker.ts", "text": "Lists issues.", "usage": "import { list }"}
)
PACKAGE = PackageAnswer(package="npm:tracker", versions=["2.1.0"], sources=1, passages=3, failed=0, fetched_at=None)


def answer(*hits: HitAnswer, note: str = "") -> SearchReply:
    return SearchReply(items=list(hits), method="words", note=note, searched=3, took_ms=1.0)


def test_a_passage_comes_with_where_it_stands_and_how_old_it_is():
    body = orjson.loads(told(answer(DOC), []))
    assert body == {
        "results": [
            {
                "type": "doc",
                "heading": "Issues › Create",
                "content": "Call `createIssue`.",
                "url": "https://docs.example/issues#create",
                "package": "npm:tracker",
                "version": "2.1.0",
                "fetched_at": "2030-01-01T00:00:00.000Z",
            }
        ]
    }


def test_a_module_comes_with_its_path_and_an_import_to_copy():
    (found,) = orjson.loads(told(answer(MODULE), []))["results"]
    assert found == {"type": "module", "path": "lib/tracker.ts", "usage": "import { list }", "content": "Lists issues."}


def test_where_nothing_is_found_the_model_is_told_what_could_be_searched_and_why():
    body = orjson.loads(told(answer(note="No such package."), [PACKAGE]))
    assert body == {"results": [], "note": "No such package.", "available_packages": ["npm:tracker (2.1.0)"]}
    assert orjson.loads(told(answer(), []))["available_packages"] == []


def test_a_very_long_passage_is_cut_and_says_so():
    long = DOC.model_copy(update={"text": "x" * (CONTENT_CHARS + 1)})
    (found,) = orjson.loads(told(answer(long), []))["results"]
    assert found["content"].endswith("(cut; continue at the url)")


@pytest.mark.parametrize("arguments", [{}, {"query": ""}, {"query": "x", "limit": 3}])
def test_arguments_that_make_no_sense_are_refused_by_name(arguments: dict[str, object]):
    with pytest.raises(ArgumentsInvalid):
        search_docs_tool(None, None).check(arguments)  # type: ignore[arg-type]

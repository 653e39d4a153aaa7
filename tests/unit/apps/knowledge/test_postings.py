"""How passages are weighed by the words they share with a query."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from outlast.apps.knowledge.arrays import Floats
from outlast.apps.knowledge.postings import bm25, build

words = st.sampled_from(["run", "page", "patch", "search", "model", "thread", "lease"])
passages = st.lists(st.lists(words, max_size=12), min_size=1, max_size=20)
queries = st.lists(words, min_size=1, max_size=4, unique=True)


def scores(texts: Sequence[Sequence[str]], query: Sequence[str]) -> Floats:
    return bm25([build(texts)], query)[0]


@given(passages, queries)
def test_a_passage_is_found_exactly_if_it_has_a_word_of_the_query(texts: list[list[str]], query: list[str]):
    found = scores(texts, query) > 0
    assert found.tolist() == [not set(text).isdisjoint(query) for text in texts]


@given(passages, queries, st.integers(0, 20))
def test_several_indexes_give_the_scores_of_one(texts: list[list[str]], query: list[str], cut: int):
    apart = bm25([build(texts[:cut]), build(texts[cut:])], query)
    assert np.concatenate(apart).tolist() == scores(texts, query).tolist()


@given(passages, queries)
def test_the_order_of_passages_changes_no_score(texts: list[list[str]], query: list[str]):
    assert np.array_equal(scores(texts[::-1], query)[::-1], scores(texts, query))


@given(passages, words)
def test_an_unrelated_passage_of_usual_length_changes_no_order_of_the_others(texts: list[list[str]], asked: str):
    total = sum(map(len, texts))
    assume(total % len(texts) == 0)
    before = scores(texts, [asked])
    after = scores([*texts, ["unrelated"] * (total // len(texts))], [asked])
    assert after[-1] == 0
    order = np.sign(before[:, None] - before[None, :])
    assert np.array_equal(order, np.sign(after[:-1, None] - after[None, :-1]))


@given(passages, words, st.integers(0, 19))
def test_saying_the_word_once_more_in_as_many_words_is_no_worse(texts: list[list[str]], asked: str, at: int):
    at %= len(texts)
    assume(any(word != asked for word in texts[at]))
    more = [list(text) for text in texts]
    more[at][next(i for i, word in enumerate(more[at]) if word != asked)] = asked
    assume(asked in texts[at])  # otherwise the word becomes commoner, and worth less
    assert scores(more, [asked])[at] >= scores(texts, [asked])[at]


def test_a_rare_word_is_worth_more_than_a_common_one():
    texts = [["common", "x"], ["common", "y"], ["common", "z"], ["rare", "x"]]
    found = scores(texts, ["common", "rare"])
    assert found[3] > found[0]


def test_a_word_in_another_form_is_found_where_the_word_itself_stands_nowhere():
    assert scores([["install", "it"], ["other"]], ["installing"]).tolist()[0] > 0
    both = scores([["install"], ["installing"]], ["installing"])
    assert both[0] == 0 < both[1]


def test_nothing_indexed_finds_nothing():
    assert bm25([], ["run"]) == []
    assert bm25([build([])], ["run"])[0].tolist() == []

"""How words and vectors make one order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.apps.knowledge.arrays import Floats
from outlast.apps.knowledge.scores import as_shares, best, fused

pairs = st.lists(st.tuples(st.floats(0, 50, width=32), st.floats(-1, 1, width=32)), min_size=1, max_size=30)


def arrays(given_pairs: list[tuple[float, float]]) -> tuple[Floats, Floats]:
    words, cosines = zip(*given_pairs, strict=True)
    return np.array(words, np.float32), np.array(cosines, np.float32)


@given(pairs)
def test_a_fused_score_lies_between_0_and_1(scores: list[tuple[float, float]]):
    result = fused(*arrays(scores))
    assert ((result >= 0) & (result <= 1.0001)).all()


@given(pairs)
def test_whoever_is_better_by_both_is_not_worse_together(scores: list[tuple[float, float]]):
    words, cosines = arrays(scores)
    result = fused(words, cosines)
    for at in range(len(words)):
        beaten = (words <= words[at]) & (cosines <= cosines[at])
        assert (result[beaten] <= result[at] + 1e-6).all()


@given(pairs)
def test_a_text_that_neither_finds_changes_nothing_for_the_others(scores: list[tuple[float, float]]):
    words, cosines = arrays(scores)
    with_one = fused(np.append(words, np.float32(0)), np.append(cosines, np.float32(-1)))
    assert with_one[-1] == 0
    assert np.array_equal(with_one[:-1], fused(words, cosines))


@given(pairs)
def test_without_vectors_the_order_is_that_of_the_words(scores: list[tuple[float, float]]):
    words, _ = arrays(scores)
    order = best(fused(words, None), len(words))
    assert words[order].tolist() == sorted(words[words > 0].tolist(), reverse=True)


@given(st.lists(st.floats(0, 1, width=32), max_size=40), st.integers(0, 45))
def test_the_best_come_first_and_the_earlier_of_equals_before_the_later(scores: list[float], limit: int):
    values = np.array(scores, np.float32)
    wanted = sorted((at for at in range(len(values)) if values[at] > 0), key=lambda at: (-values[at], at))
    assert best(values, limit).tolist() == wanted[:limit]


def test_vectors_weigh_seven_tenths_and_words_three():
    result = fused(np.array([10, 5], np.float32), np.array([0.5, 1.0], np.float32))
    assert result.tolist() == pytest.approx([0.7 * 0.5 + 0.3, 0.7 + 0.3 * 0.5])


def test_a_text_without_a_vector_is_taken_to_be_as_near_as_its_words():
    words = np.array([10, 10, 1], np.float32)
    result = fused(words, np.array([0.8, np.nan, 0.8], np.float32))
    assert result[1] == pytest.approx(result[0])
    assert result[1] > result[2]


def test_where_no_text_has_a_vector_words_decide():
    result = fused(np.array([1, 2], np.float32), np.array([np.nan, np.nan], np.float32))
    assert result[1] > result[0] > 0


def test_a_rerankers_scores_become_shares_whatever_their_range():
    assert as_shares([0.2, 0.9]) == [0.2, 0.9]
    low, high = as_shares([-8.0, 3.0])
    assert 0 < low < 0.5 < high < 1
    assert as_shares([]) == []

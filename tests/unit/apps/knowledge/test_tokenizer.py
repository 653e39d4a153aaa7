"""What words search goes by."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.apps.knowledge.tokenizer import MAX_QUERY_TERMS, found_words, query_terms, relatives, stem, terms_of

texts = st.text(max_size=300)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("How do I create the issues?", ["create", "issue"]),
        ("createIssues", ["createissues", "create", "issue"]),
        ("snake_case_name", ["snake_case_name", "snake", "case", "name"]),
        ("HTTPServer2", ["httpserver2", "http", "server", "2"]),
        ("client.issues.list()", ["client", "issue", "list"]),
        ("Crème brûlée", ["creme", "brulee"]),
        ("検索する", ["検", "索", "す", "る", "検索", "索す", "する"]),
        ("MAX_RETRIES", ["max_retries", "max", "retry"]),
        ("", []),
        ("— … !", []),
    ],
)
def test_a_text_is_cut_into_the_words_that_people_look_for(text: str, terms: list[str]):
    assert terms_of(text) == terms


@given(texts)
def test_any_text_has_words_and_none_is_empty_or_broken_over_lines(text: str):
    terms = terms_of(text)
    assert all(term and "\n" not in term for term in terms)
    assert terms == terms_of(text)


@given(texts, texts)
def test_two_texts_side_by_side_have_the_words_of_both(one: str, other: str):
    assert terms_of(f"{one}\n{other}") == terms_of(one) + terms_of(other)


@given(texts)
def test_a_query_is_asked_for_each_of_its_words_once_and_not_for_endlessly_many(text: str):
    asked = query_terms(text * 3)
    assert len(asked) == len(set(asked)) <= MAX_QUERY_TERMS
    assert set(asked) <= set(terms_of(text * 3))


@given(texts)
def test_what_is_highlighted_stands_in_the_text_and_was_asked_for(text: str):
    terms = frozenset(query_terms(text[:40]))
    for word in found_words(text, terms):
        assert word in text
        assert not terms.isdisjoint(terms_of(word))


@given(st.from_regex(r"[a-z]{1,20}", fullmatch=True))
def test_a_singular_stays_what_it_is(word: str):
    once = stem(word)
    assert once
    assert word.startswith(once[:-1])


def test_a_word_that_stands_nowhere_is_looked_for_in_its_other_forms():
    assert "install" in relatives("installing")
    assert "create" in relatives("creating")
    assert "running" in relatives("runner")
    assert relatives("2fa") == ()

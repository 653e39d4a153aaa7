import itertools
import random
import time
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.apps.documents.edits.merge import MAX_LINES, Merge, merge
from outlast.apps.documents.edits.token_matches import lines_of, match, words_of

_word = st.sampled_from(["one", "two", "three", "the", "a", "été", "漢", "字", "10", "x_y", "don't", "-", "*", "|"])
_gap = st.sampled_from([" ", "  ", "\n", "\n\n", ", ", ". ", "\r\n", "\t", ""])
_texts = st.lists(st.tuples(_word, _gap), max_size=30).map(lambda pairs: "".join(map("".join, pairs)))


@st.composite
def _changed(draw: st.DrawFn, base: str) -> str:
    """The base with a few of its tokens replaced, deleted or followed by others."""
    tokens = words_of(base) or [""]
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(tokens) - 1))
        kind = draw(st.sampled_from(["replace", "delete", "insert"]))
        new = draw(_texts) if kind != "delete" else ""
        tokens[at] = tokens[at] + new if kind == "insert" else new
    return "".join(tokens)


@st.composite
def _triples(draw: st.DrawFn) -> tuple[str, str, str]:
    base = draw(_texts)
    return base, draw(_changed(base)), draw(_changed(base))


def _words(text: str) -> Counter[str]:
    return Counter(token for token in words_of(text) if any(map(str.isalnum, token)))


@given(_texts, _texts)
def test_a_text_that_only_one_side_changed_becomes_what_that_side_made_of_it(base: str, changed: str) -> None:
    assert merge(base, base, changed).text == changed
    assert merge(base, changed, base).text == changed


@given(_texts, _texts)
def test_equal_changes_on_both_sides_are_no_conflict(base: str, changed: str) -> None:
    assert merge(base, changed, changed).text == changed


@given(_triples())
def test_the_hunks_are_all_three_texts_and_the_merged_one(triple: tuple[str, str, str]) -> None:
    base, current, wanted = triple
    merged = merge(base, current, wanted)
    assert "".join(hunk.base for hunk in merged.hunks) == base
    assert "".join(hunk.current for hunk in merged.hunks) == current
    assert "".join(hunk.wanted for hunk in merged.hunks) == wanted
    assert (merged.text is None) == any(hunk.kind == "conflict" for hunk in merged.hunks)
    if merged.text is not None:
        assert "".join(hunk.text or "" for hunk in merged.hunks) == merged.text


@given(_triples())
def test_sides_may_be_swapped(triple: tuple[str, str, str]) -> None:
    base, current, wanted = triple
    one, other = merge(base, current, wanted), merge(base, wanted, current)
    assert one.text == other.text
    names = {"current": "wanted", "wanted": "current"}
    swapped = [(names.get(hunk.kind, hunk.kind), hunk.base, hunk.wanted, hunk.current) for hunk in other.hunks]
    assert swapped == [(hunk.kind, hunk.base, hunk.current, hunk.wanted) for hunk in one.hunks]


@given(_triples())
def test_every_word_that_a_side_inserted_is_in_a_clean_result(triple: tuple[str, str, str]) -> None:
    base, current, wanted = triple
    merged = merge(base, current, wanted)
    if merged.text is None:
        return
    result = _words(merged.text)
    assert not (_words(current) - _words(base)) - result
    assert not (_words(wanted) - _words(base)) - result


@given(_triples())
def test_what_is_kept_or_changed_of_each_hunk_is_told_truly(triple: tuple[str, str, str]) -> None:
    for hunk in merge(*triple).hunks:
        changed = hunk.current != hunk.base, hunk.wanted != hunk.base
        told = {"same": (False, False), "current": (True, False), "wanted": (False, True)}.get(hunk.kind)
        assert changed == (told or (True, True))
        assert (hunk.kind == "both") == (all(changed) and hunk.current == hunk.wanted)


@given(_texts, _texts)
def test_matched_tokens_are_equal_and_rise_in_both_texts(one: str, two: str) -> None:
    for tokens_of in (lines_of, words_of):
        ours, theirs = tokens_of(one), tokens_of(two)
        assert ("".join(ours), "".join(theirs)) == (one, two)
        pairs = match(ours, theirs)
        assert all(ours[a] == theirs[b] for a, b in pairs)
        assert all(a < c and b < d for (a, b), (c, d) in itertools.pairwise(pairs))


@pytest.mark.parametrize(
    ("base", "current", "wanted", "text"),
    [
        ("We should ship it on Monday.", "We must ship it on Monday.", "We should ship it on Friday.",
         "We must ship it on Friday."),
        ("- a\n- b\n- c", "- a\n- b two\n- c", "- a one\n- b\n- c", "- a one\n- b two\n- c"),
        ("- a\n- b", "- a\n- b\n- c", "- x\n- b", "- x\n- b\n- c"),
        ("a\n\nb\n", "a\n\nb\nc\n", "z\n\nb\n", "z\n\nb\nc\n"),
        ("漢字を書く人", "漢字を読む人", "漢字を書く人々", "漢字を読む人々"),
        ("", "", "new", "new"),
        ("gone", "", "gone", ""),
    ],
)  # fmt: skip
def test_changes_in_different_places_both_stay(base: str, current: str, wanted: str, text: str) -> None:
    assert merge(base, current, wanted).text == text


@pytest.mark.parametrize(
    ("base", "current", "wanted"),
    [
        ("the cat sat", "the dog sat", "the bird sat"),
        ("one two", "uno two", "one dos"),  # beside each other
        ("[name](a)", "[title](a)", "[name](b)"),
        ("keep this line\n", "", "keep this new line\n"),  # deleted here, changed there
        ("", "mine", "yours"),
        ("- a\n- b\n", "- a\n- b\n- mine\n", "- a\n- b\n- yours\n"),  # in one place
        ("one two three", "one three", "one two and three"),
    ],
)
def test_changes_in_one_place_or_beside_each_other_conflict(base: str, current: str, wanted: str) -> None:
    merged = merge(base, current, wanted)
    assert merged.text is None
    assert [hunk.kind for hunk in merged.hunks].count("conflict") == 1


def test_a_conflict_leaves_the_rest_of_the_text_merged() -> None:
    base = "First line.\nThe cat sat on the mat.\nLast line of it.\n"
    current = "First line!\nThe dog sat on the mat.\nLast line of it.\n"
    wanted = "First line.\nThe bird sat on the mat.\nLast line of all.\n"
    merged = merge(base, current, wanted)
    told = [(h.kind, h.base, h.current, h.wanted) for h in merged.hunks if h.kind != "same"]
    assert ("conflict", "cat", "dog", "bird") in told
    assert ("wanted", "it", "it", "all") in told or any("all" in wanted for _, _, _, wanted in told)
    assert [hunk.kind for hunk in merged.hunks].count("conflict") == 1


def test_a_sentence_written_anew_is_one_change_even_where_small_words_stay() -> None:
    base = "It is the aim of this section to say what the tool does.\n"
    current = "Here the reader learns of everything that it can do.\n"
    wanted = "It is the aim of this part to say what the tool does.\n"
    merged = merge(base, current, wanted)
    assert merged.text is None


def _random_text(rnd: random.Random, words: list[str], gap: str) -> str:
    return gap.join(rnd.choice(words) for _ in range(50_000 // 6))


@pytest.mark.parametrize("words", [["a", "b", "the"], [f"w{n}" for n in range(5_000)]], ids=["few", "many"])
@pytest.mark.parametrize("gap", [" ", "\n", ".,"])
def test_long_texts_that_differ_everywhere_are_answered_soon(words: list[str], gap: str) -> None:
    rnd = random.Random(7)
    texts = [_random_text(rnd, words, gap) for _ in range(3)]
    began = time.thread_time()
    merged = merge(*texts)
    assert time.thread_time() - began < 5  # about 0.2 s on a quiet machine
    assert isinstance(merged, Merge)
    assert "".join(hunk.wanted for hunk in merged.hunks) == texts[2]


def test_texts_too_long_for_words_are_merged_by_lines() -> None:
    lines = [f"line {n} of the text\n" for n in range(7_000)]
    current, wanted = list(lines), list(lines)
    current[10] = "mine\n"
    wanted[6_000] = "yours\n"
    merged = merge("".join(lines), "".join(current), "".join(wanted))
    assert merged.text is not None
    assert "mine\n" in merged.text
    assert "yours\n" in merged.text


def test_a_long_run_of_small_words_beside_many_changes_is_merged_soon() -> None:
    """Each change asks whether the run before it is there by chance: counting its words again would take minutes."""
    small = "a b " * 3_000
    texts = [small + "".join(f"{filler} w{n} " for n in range(800)) for filler in ("one", "two", "red")]
    began = time.thread_time()
    merged = merge(*texts)
    assert time.thread_time() - began < 5  # about 0.2 s on a quiet machine
    assert merged.hunks[0].base.startswith(small)


def test_texts_of_too_many_lines_are_left_to_a_person() -> None:
    base = "a\n" * (MAX_LINES + 1)
    merged = merge(base, f"b\n{base}", f"{base}c\n")
    assert (merged.text, [hunk.kind for hunk in merged.hunks].count("conflict")) == (None, 1)
    assert merge(base, base, f"{base}c\n").text == f"{base}c\n"

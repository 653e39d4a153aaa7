"""Selected text, found again."""

from __future__ import annotations

import time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from outlast.apps.documents.comments import quotes
from outlast.apps.documents.comments.quotes import KEPT, Effort, Text, find_again
from outlast.apps.documents.comments.shapes import Quote

FOX = "The quick brown fox jumps over the lazy dog. The quick red hare does not."


def quote_at(markdown: str, start: int, end: int) -> Quote:
    """Characters `start` to `end` of a Markdown text as they are shown, with what stands around them."""
    shown = Text("", markdown).text
    first, after = (len(Text("", markdown[:edge]).text) for edge in (start, end))
    before, behind = shown[max(first - KEPT, 0) : first], shown[after : after + KEPT]
    return Quote(text=shown[first:after], prefix=before, suffix=behind)


def quoted(text: str, words: str) -> Quote:
    start = text.index(words)
    return quote_at(text, start, start + len(words))


def find(quote: Quote, text: str) -> Quote | None:
    """The quote as it is kept once it was found in a text, with what stands around it there."""
    place = find_again(quote, "b1", [Text("b1", text)])
    if place is None:
        return None
    found = place.quote
    assert bones(found.prefix) in Text("", text).bones
    assert bones(found.suffix) in Text("", text).bones
    return found


def at(quote: Quote, text: str) -> str | None:
    """The words where a quote is found: its own, or what became of them."""
    found = find(quote, text)
    return None if found is None else found.text


def bones(shown: str) -> str:
    """A shown text without spaces and marks."""
    return "".join(char for char in shown if char not in "*~`[]|\\_#>" and not char.isspace())


@pytest.mark.parametrize(
    ("before", "words", "after", "found"),
    [
        (FOX, "quick", FOX, "quick"),
        (FOX, "brown fox", "Once: " + FOX, "brown fox"),
        (FOX, "brown fox", FOX.replace(" ", "\n"), "brown fox"),
        (FOX, "brown fox", FOX.replace("fox", "*fox*"), "brown fox"),
        (FOX, "brown fox", FOX.replace("fox", "[fox](https://fox.example/a_b)"), "brown fox"),
        (FOX, "brown fox", FOX.replace("brown fox", "brown, quick fox"), "brown, quick fox"),
        (FOX, "jumps over", FOX.replace("jumps", "leaps"), "leaps over"),
        (FOX, "brown fox", FOX.replace("brown fox", "cat"), None),
        (FOX, "brown fox", "Something else altogether.", None),
        (FOX, FOX, FOX.upper(), None),
        ("a **b** c", "**b**", "a **b** c", "b"),
        ("Cost: 5 &lt; 6 &amp; more", "5 &lt; 6", "Cost: 5 < 6 &amp; more", "5 < 6"),
        ("- one\n- two\n- three", "two", "1. one\n2. two\n3. three", "two"),
        ("| a | b |\n|---|---|\n| c | d |", "c", "| a | b |\n|---|---|\n| c | d | e |", "c"),
    ],
)
def test_a_quote_is_found_by_its_words_and_by_what_stands_around_it(
    before: str, words: str, after: str, found: str | None
) -> None:
    assert at(quoted(before, words), after) == found


def test_of_several_places_the_one_counts_whose_surroundings_agree() -> None:
    second = quote_at(FOX, FOX.rindex("quick"), FOX.rindex("quick") + 5)
    found = find(second, "A quick look. " + FOX)
    assert found is not None
    assert (found.prefix[-4:], found.text, found.suffix[:4]) == ("The ", "quick", " red")


def test_a_short_text_alone_is_no_proof() -> None:
    quote = quoted(FOX, "quick")
    assert at(quote, "Be quick!") is None
    assert at(Quote(text="quick"), "Be quick!") == "quick"  # nothing is known of its surroundings


def test_what_a_browser_shows_is_found_in_markdown() -> None:
    shown = Quote(text="bold text with a link", prefix="Some ", suffix=" in it.")
    text = 'Some **bold text** with [a link](https://example.org "x") in it.'
    assert at(shown, text) == "bold text with a link"


def test_a_quote_whose_text_moved_to_another_block_is_followed() -> None:
    quote = quoted(FOX, "lazy dog")
    blocks = [Text("b1", "The quick brown fox."), Text("b2", "It jumps over the lazy dog. Really."), Text("b3", FOX)]
    place = find_again(quote, "b1", blocks)
    assert place is not None
    assert (place.block_id, place.quote.text, place.quote.prefix[-4:]) == ("b3", "lazy dog", "the ")
    place = find_again(quote, "b1", blocks[:2])
    assert place is not None
    assert place.block_id == "b2"
    assert find_again(quote, "b1", blocks[:1]) is None
    assert find_again(quote, None, []) is None


def test_its_own_block_counts_more_than_another_with_the_same_text() -> None:
    quote = quoted(FOX, "lazy dog")
    blocks = [Text("b1", FOX), Text("b2", FOX)]
    place = find_again(quote, "b2", blocks)
    assert place is not None
    assert place.block_id == "b2"


words = st.text(alphabet="abcdefg *_.\n", min_size=1, max_size=12)
texts = st.text(alphabet="abcdefg *_`[]()#>|-&;\\\n.,", max_size=200)


@given(texts, st.integers(0, 200), st.integers(1, 60))
def test_in_a_text_that_did_not_change_a_quote_is_found_with_all_its_surroundings(
    text: str, start: int, length: int
) -> None:
    quote = quote_at(text, start, start + length)
    found = find(quote, text)
    if not bones(quote.text):
        assert found is None
        return
    assert found is not None
    assert bones(found.text) == bones(quote.text)


@given(st.text("abcdef .", min_size=80, max_size=160), st.integers(0, 100), words, st.booleans())
def test_an_edit_away_from_a_quote_does_not_lose_it(text: str, place: int, new: str, before: bool) -> None:
    """Words written, or left out, further away than what is kept of the surroundings."""
    start, end = len(text) // 2 - 4, len(text) // 2 + 4
    quote = quote_at(text, start, end)
    assume(bones(quote.text))
    far = place % max(start - KEPT, 1) if before else end + KEPT + place % max(len(text) - end - KEPT, 1)
    edited = text[:far] + new + text[far:]
    found = find(quote, edited)
    assert found is not None
    assert bones(found.text) == bones(quote.text)


@given(texts, texts, st.integers(0, 150), st.integers(1, 40))
def test_what_is_found_reads_as_the_quote_or_keeps_half_of_it(before: str, after: str, start: int, length: int) -> None:
    quote = quote_at(before, start, start + length)
    found = find(quote, after)
    if found is None:
        return
    assert bones(found.text) in Text("", after).bones or found.text == quote.text
    assert len(bones(found.text)) <= 3 * len(bones(quote.text))


@given(st.text("abcdefgh ", min_size=20, max_size=100), st.text("xyz ", max_size=100), st.integers(0, 80))
def test_a_quote_whose_text_is_gone_is_not_found(before: str, after: str, start: int) -> None:
    quote = quote_at(before, start, start + 12)
    assert find(quote, after) is None
    assert find_again(quote, "b1", [Text("b1", after), Text("b2", after + after)]) is None


@given(texts, st.integers(0, 150), st.integers(1, 40), texts)
def test_a_quote_that_is_found_again_is_kept_so_that_it_is_found_there_the_next_time(
    text: str, start: int, length: int, other: str
) -> None:
    quote = quote_at(text, start, start + length)
    blocks = [Text("b1", text), Text("b2", other)]
    place = find_again(quote, "b1", blocks)
    if place is not None:
        assert find_again(place.quote, place.block_id, blocks) == place


def test_searching_long_texts_takes_time_that_grows_with_their_length_alone() -> None:
    for text in ("[" * 50_000, "](" * 25_000, "a" * 50_000, "a\n" * 25_000, "|-" * 25_000, " " * 50_000, "&" * 50_000):
        find(Quote(text="aaaa", prefix="a" * 32, suffix="a" * 32), text)
        find(Quote(text=text[:5000], prefix="b", suffix="c"), text)


def test_a_long_row_of_dashes_is_read_in_one_pass() -> None:
    began = time.thread_time()
    for row in ("-" * 50_000 + "x", ":" + "-| " * 20_000 + "x", "](" * 25_000, "&#" * 25_000, "- " * 25_000):
        assert find(Quote(text="not there at all, nowhere"), row) is None
    assert time.thread_time() - began < 5  # about 0.2 s on a quiet machine
    assert find(Quote(text="x"), "-" * 50_000 + "x") is not None


def test_a_quote_is_prepared_once_however_many_blocks_are_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    prepared: list[str] = []
    shown = quotes._shown

    def counted(markdown: str) -> str:
        prepared.append(markdown)
        return shown(markdown)

    monkeypatch.setattr(quotes, "_shown", counted)
    quote = Quote(text="**lost** " * 400, prefix="before ", suffix=" behind")
    blocks = [Text(f"b{n}", f"lost words in block {n}") for n in range(300)]
    assert find_again(quote, "b7", blocks) is None
    assert prepared.count(quote.text) == 1
    assert len(prepared) <= 4  # its parts, and its own block: the others are too short to hold it


def test_many_quotes_together_are_searched_as_far_as_their_effort_goes() -> None:
    quote = quoted(FOX, "brown fox")
    blocks = [Text("b1", FOX.replace("brown fox", "cat")), Text("b2", FOX)]
    place = find_again(quote, "b1", blocks, Effort())
    assert place is not None
    assert place.block_id == "b2"
    assert find_again(quote, "b1", blocks, Effort(0)) is None
    at_home = find_again(quote, "b2", [Text("b1", FOX), Text("b2", FOX)], Effort(0))
    assert at_home is not None
    assert at_home.block_id == "b2"

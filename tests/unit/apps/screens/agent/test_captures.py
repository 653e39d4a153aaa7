"""Captured elements: read as the page writes them, bounded, and harmless whatever is in them."""

from __future__ import annotations

import time

from hypothesis import given, settings
from hypothesis import strategies as st

from outlast.apps.screens.agent.captures import (
    BEGIN,
    CSS_CHARS,
    END,
    HTML_CHARS,
    LEFT_OUT,
    MAX_CAPTURES,
    Capture,
    bounded,
    captures_in,
)

BLOCK = f"""{BEGIN}
Element: button Buy
Source: app/page.tsx:12:4
HTML:
```html
<button class="x">Buy</button>
```
CSS:
```css
.x {{ color: #3b82f6 }}
```
{END}"""


def test_an_element_is_read_with_its_facts_html_and_css() -> None:
    assert captures_in(f"Like this: {BLOCK} please") == [
        Capture(
            "Element: button Buy\nSource: app/page.tsx:12:4", '<button class="x">Buy</button>', ".x { color: #3b82f6 }"
        )
    ]
    assert bounded(f"Like this: {BLOCK} please") == f"Like this: {BLOCK} please"


def test_html_may_hold_fences_and_markers_of_its_own() -> None:
    html = "<pre>\n```js\nx\n```\n</pre>"
    block = BLOCK.replace('<button class="x">Buy</button>', html)
    assert captures_in(block)[0].html == html


def test_a_block_in_another_form_counts_as_html_and_one_without_its_end_ends_with_the_message() -> None:
    assert captures_in(f"{BEGIN}<b>x</b>{END}") == [Capture("", "<b>x</b>", "")]
    assert captures_in(f"a {BEGIN}<b>x</b>") == [Capture("", "<b>x</b>", "")]


def test_what_is_too_long_is_shortened_and_what_is_too_many_left_out() -> None:
    long = Capture("", "h" * (HTML_CHARS + 1), "c" * (CSS_CHARS + 1)).block()
    assert len(long) < HTML_CHARS + CSS_CHARS + 200
    assert long.count("shortened") == 2
    many = bounded("\n".join([BLOCK] * (MAX_CAPTURES + 2)))
    assert many.count(BEGIN) == MAX_CAPTURES
    assert many.count(LEFT_OUT) == 2


def test_a_text_without_blocks_is_unchanged() -> None:
    assert bounded("[UNITSET] nothing here") == "[UNITSET] nothing here"


_soup = st.lists(
    st.one_of(st.sampled_from([BEGIN, END, "HTML:\n```html\n", "```", "CSS:\n```css\n", "\n"]), st.text())
).map("".join)


@settings(max_examples=200)
@given(_soup)
def test_any_message_is_bounded_and_stays_so(text: str) -> None:
    once = bounded(text)
    assert len(once) <= len(text) + 200 * (text.count(BEGIN) + 1)
    assert len(captures_in(once)) <= MAX_CAPTURES


def test_a_message_full_of_broken_captures_is_read_at_once() -> None:
    """80 KB of opening marks without their ends kept the server's only event loop busy for minutes."""
    text = BEGIN + "HTML:\n```html\n" + "CSS:```css\n" * 20_000
    begun = time.thread_time()
    assert len(bounded(text)) > len(BEGIN)
    assert time.thread_time() - begun < 1

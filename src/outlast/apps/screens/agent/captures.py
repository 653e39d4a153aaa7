"""Captured elements in a message: blocks with the HTML and CSS of something on a page, to be replicated exactly. Pure.

    [UNITSET_ELEMENT_CAPTURE] … HTML: ```html … ``` CSS: ```css … ``` [/UNITSET_ELEMENT_CAPTURE]

A block that is not closed ends with the message; its content is arbitrary, and reaches the model in bounded size.
Bounds: time grows with the length of the message, 200 KB take 1 ms.
"""

import re
from typing import Final

from outlast.base.records import dataclass

BEGIN: Final = "[UNITSET_ELEMENT_CAPTURE]"
END: Final = "[/UNITSET_ELEMENT_CAPTURE]"
MAX_CAPTURES: Final = 5  # in one message
HTML_CHARS: Final = 40_000
CSS_CHARS: Final = 20_000
SHORTENED: Final = "\n[… shortened …]"
LEFT_OUT: Final = "(a further captured element was left out: a message may hold five)"

_BLOCK: Final = re.compile(rf"{re.escape(BEGIN)}(.*?)(?:{re.escape(END)}|\Z)", re.DOTALL)
_HTML: Final = re.compile(r"HTML:\s*+```(?:html)?[ \t]*+\n")
_HTML_ENDS: Final = re.compile(r"\n?```(?=\s*+(?:CSS:|\Z))")
_CSS: Final = re.compile(r"CSS:\s*+```(?:css)?[ \t]*+\n")


@dataclass(frozen=True, slots=True)
class Capture:
    """One captured element. `facts` is the text before its HTML (its kind and place)."""

    facts: str
    html: str
    css: str

    def block(self) -> str:
        """The block for the model, within the bounds."""
        lines = [self.facts, "HTML:", "```html", _cut(self.html, HTML_CHARS), "```"]
        if self.css:
            lines += ["CSS:", "```css", _cut(self.css, CSS_CHARS), "```"]
        return "\n".join([BEGIN, *(line for line in lines if line), END])


def captures_in(text: str) -> list[Capture]:
    """The elements in a message, in order."""
    return [_capture(found.group(1)) for found in _BLOCK.finditer(text)]


def bounded(text: str) -> str:
    """The message with its blocks in one form and bounded size; a text without blocks is unchanged."""
    count = 0

    def one(found: re.Match[str]) -> str:
        nonlocal count
        count += 1
        return _capture(found.group(1)).block() if count <= MAX_CAPTURES else LEFT_OUT

    return _BLOCK.sub(one, text)


def _capture(inner: str) -> Capture:
    html = _HTML.search(inner)
    ending = _HTML_ENDS.search(inner, html.end()) if html is not None else None
    if html is None or ending is None:
        return Capture("", inner.strip(), "")
    return Capture(inner[: html.start()].strip()[:500], inner[html.end() : ending.start()].strip(), _css_of(inner))


def _css_of(inner: str) -> str:
    """The block of CSS at the end of a capture; empty if there is none."""
    opening, whole = _CSS.search(inner), inner.rstrip()
    if opening is None or not whole.endswith("```") or len(whole) - 3 < opening.end():
        return ""
    return whole[opening.end() : -3].strip()


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - len(SHORTENED)] + SHORTENED

"""A page's HTML within a number of characters: a longer one loses its middle, marked by a comment. Pure."""

import re
from itertools import accumulate
from typing import Final

CODE_CHARS_PER_TOKEN: Final = 3.2  # approximate for all providers: code and HTML have more symbols than prose
BEGINNING: Final = 0.7  # share of the characters shown
MAX_IDS: Final = 200
NOTE: Final = (
    "<!-- {cut:,} of {whole:,} characters are left out here, because the page is too long to show whole. They are "
    "still on the page: patches may name elements in them, read_page shows them; do not rewrite the whole page."
    "{ids} -->"
)
_ID: Final = re.compile(r'<[a-zA-Z][^<>]*?\sid="([^"]*)"')
_EMPTY: Final = "(the page is empty)"


def within(html: str, most_chars: int) -> str:
    """The HTML, at most about `most_chars` of it. The cut begins and ends at a tag; a comment in its place names
    at most 200 of the elements in it."""
    if not html.strip():
        return _EMPTY
    if len(html) <= most_chars:
        return html
    before = int(most_chars * BEGINNING)
    begin = max(html.rfind("<", 0, before + 1), 0)
    end = html.find("<", len(html) - (most_chars - before))
    end = end if end >= 0 else len(html)
    middle = html[begin:end]
    note = NOTE.format(cut=len(middle), whole=len(html), ids=_named(_ID.findall(middle), most_chars // 4))
    return f"{html[:begin]}\n{note}\n{html[end:]}"


def _named(ids: list[str], most_chars: int) -> str:
    ends = accumulate(len(one) + 2 for one in ids[:MAX_IDS])
    kept = [f"#{one}" for one, end in zip(ids, ends, strict=False) if end <= most_chars]
    if not kept:
        return ""
    rest = len(ids) - len(kept)
    more = f" and {rest} more" if rest else ""
    return f" Elements in them: {' '.join(kept)}{more}.".replace("--", "- -")

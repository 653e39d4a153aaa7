"""Refuse HTML that would take much longer to parse, or become much larger, than its length suggests. Pure.

By the rules of HTML a parser searches all open elements for some tags, compares each attribute of an element with
all others, and reopens unclosed formatting elements (`<b>`, `<a>` …) in every following paragraph: fast for HTML that
people and models write, slow for hostile HTML.

Bounds: `MAX_OPEN` elements, `MAX_ATTRIBUTES` of one, `MAX_REFERENCES`; the check takes time that grows with
the length, 100 KB take 20 ms.
"""

import re
from collections import Counter
from typing import Final

from outlast.apps.pages.allowed_elements import VOID
from outlast.apps.pages.refusals import Refused
from outlast.base.data_files import read_names

MAX_OPEN: Final = 1000
MAX_ATTRIBUTES: Final = 1000
MAX_REOPENED: Final = 400_000
MAX_REFERENCES: Final = 100_000
_LONG_TAG: Final = 4000
_TAG: Final = re.compile(r"<(/?)([a-zA-Z][^\s/>]*)")
_VALUE: Final = re.compile(r"=\s*(?:\"[^\"]*\"|'[^']*')")
_PART: Final = re.compile(r"[\s/]+")
_WORDS: Final = read_names(__file__, "parser_quirks/reopened_elements")
# Their end tags may be left out, so an open one says nothing.
_ENDS_ITSELF: Final = read_names(__file__, "parser_quirks/elements_that_end_themselves")


def demand_bounded(html: str) -> None:
    """Raise `Refused` if HTML has too many open elements, attributes, or formatting elements that are reopened."""
    if html.count("&") > MAX_REFERENCES:
        raise Refused(f"it has more than {MAX_REFERENCES:,} & characters")
    depth = words = most_words = tags = 0
    opened: Counter[str] = Counter()
    last = 0
    for tag in _TAG.finditer(html):
        if tag.start() - last > _LONG_TAG:
            _demand_few_attributes(html[last : tag.start()])
        last = tag.start()
        name = tag[2].lower()
        if name in VOID or name in _ENDS_ITSELF:
            tags += 1
            continue
        if tag[1] and not opened[name]:
            continue  # it ends nothing
        step = -1 if tag[1] else 1
        opened[name] += step
        tags += step > 0
        depth += step
        if depth > MAX_OPEN:
            raise Refused(f"its elements are nested too deep, or more than {MAX_OPEN:,} are not closed")
        if name in _WORDS:
            words += step
            most_words = max(most_words, words)
    if len(html) - last > _LONG_TAG:
        _demand_few_attributes(html[last:])
    if most_words > 3 and most_words * tags > MAX_REOPENED:
        raise Refused(f"{most_words} elements like b and a are open at once: close them where they end")


def _demand_few_attributes(text: str) -> None:
    """`text` begins with a tag and ends before the next one."""
    begun = text.partition(">")[0] if "=" not in text else _VALUE.sub("=", text).partition(">")[0]
    if len(_PART.findall(begun)) > MAX_ATTRIBUTES:
        raise Refused(f"an element has more than {MAX_ATTRIBUTES:,} attributes")

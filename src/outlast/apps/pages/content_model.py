"""The allowed nesting of elements, so that a browser parses a page's HTML into exactly our tree. Pure.

HTML's parser closes, moves and drops misplaced elements (a `div` in a `p`, a link in a link, text in a table). A tree
that follows these rules is parsed back as it was written. They are a little stricter than the parser in rare places,
never laxer.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Final

from outlast.apps.pages.allowed_elements import HEADINGS, HTML, SVG, TEXT_ONLY, VOID
from outlast.base.data_files import read_names
from outlast.base.records import dataclass

MAX_DEPTH: Final = 100  # browsers flatten much deeper nesting

_CLOSES_P: Final = HEADINGS | read_names(__file__, "parser_quirks/closes_p")
# Elements that end the parser's search for an open `li`, `dd` or `dt`.
_ENDS_ITEM_SEARCH: Final = HEADINGS | read_names(__file__, "parser_quirks/ends_item_search")
_CHILDREN: Final = {
    "table": frozenset({"caption", "colgroup", "thead", "tbody", "tfoot"}),
    "colgroup": frozenset({"col"}),
    "thead": frozenset({"tr"}),
    "tbody": frozenset({"tr"}),
    "tfoot": frozenset({"tr"}),
    "tr": frozenset({"td", "th"}),
    "select": frozenset({"option", "optgroup"}),
    "optgroup": frozenset({"option"}),
}
_PARENTS: Final = {
    child: frozenset(parent for parent, children in _CHILDREN.items() if child in children)
    for child in frozenset().union(*_CHILDREN.values())
} | {"option": frozenset({"select", "optgroup", "datalist"}), "rt": frozenset({"ruby"}), "rp": frozenset({"ruby"})}
WITHOUT_TEXT: Final = frozenset(_CHILDREN)


@dataclass(frozen=True, slots=True)
class Inside:
    """The context of an element: its parent, and the open elements around it as the parser sees them."""

    tag: str = "div"
    depth: int = 0
    svg: bool = False
    p: bool = False
    a: bool = False
    button: bool = False
    form: bool = False
    li: bool = False
    item: bool = False  # dd or dt


@lru_cache(maxsize=4096)
def entered(where: Inside, tag: str) -> Inside | str:
    """The context of the content of an element at this place, or the reason why it cannot be there."""
    if where.depth >= MAX_DEPTH:
        return f"elements are nested more than {MAX_DEPTH} deep"
    if where.tag in TEXT_ONLY:
        return f"a {where.tag} may only contain text"
    if where.svg:
        return replace(where, tag=tag, depth=where.depth + 1) if tag in SVG else _not_in(tag, "drawing (svg)")
    refused = _refused(where, tag)
    return refused or _after(where, tag)


def _refused(where: Inside, tag: str) -> str:
    if tag not in HTML:
        return f"a {tag} is only allowed in an svg"
    if tag not in _CHILDREN.get(where.tag, (tag,)):
        wanted = ", ".join(sorted(_CHILDREN[where.tag]))
        return f"{_article(where.tag)} may only contain {wanted}, not {tag}"
    if where.tag not in _PARENTS.get(tag, (where.tag,)):
        wanted = " or ".join(sorted(_PARENTS[tag]))
        return f"{_article(tag)} is only allowed directly in {wanted}"
    if where.p and tag in _CLOSES_P:
        return _not_in(tag, "p (paragraph)")
    if (where.a and tag == "a") or (where.button and tag == "button") or (where.form and tag == "form"):
        return _not_in(tag, tag)
    if (where.li and tag == "li") or (where.item and tag in ("dd", "dt")):
        return f"{_article(tag)} cannot be inside another one without a list between them"
    if tag in HEADINGS and where.tag in HEADINGS:
        return _not_in(tag, where.tag)
    return ""


def _after(where: Inside, tag: str) -> Inside:
    scope_ends = tag in ("table", "caption", "td", "th")
    marker = tag in ("caption", "td", "th")
    item_ends = tag in _ENDS_ITEM_SEARCH
    return Inside(
        tag=tag,
        depth=where.depth + 1,
        svg=tag == "svg",
        p=tag == "p" or (where.p and not scope_ends and tag != "button"),
        a=tag == "a" or (where.a and not marker),
        button=tag == "button" or (where.button and not scope_ends),
        form=where.form or tag == "form",
        li=tag == "li" or (where.li and not item_ends),
        item=tag in ("dd", "dt") or (where.item and not item_ends),
    )


def around(tags: Iterable[str]) -> Inside:
    """The context of the content of an element, given the tags from the outermost down to itself, all in place."""
    where = Inside()
    for tag in tags:
        where = replace(where, tag=tag, depth=where.depth + 1) if where.svg else _after(where, tag)
    return where


def text_refused(tag: str, text: str) -> str:
    """The reason why an element cannot contain this text; empty if it can."""
    if tag in VOID:
        return f"{_article(tag)} must be empty"
    if tag in WITHOUT_TEXT and text.strip(" \t\n\f"):
        return f"{_article(tag)} cannot contain text, only {', '.join(sorted(_CHILDREN[tag]))}"
    return ""


def _not_in(tag: str, outer: str) -> str:
    return f"{_article(tag)} cannot be inside {_article(outer)}"


def _article(tag: str) -> str:
    return f"{'an' if tag[0] in 'aeiou' or tag in HEADINGS else 'a'} {tag}"

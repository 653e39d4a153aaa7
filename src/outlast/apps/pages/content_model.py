"""What may stand inside what, so that a browser reads a page's HTML as exactly the tree that we have. Pure.

HTML's parser closes, moves and drops elements that stand where it does not want them (a `div` in a `p`, a link in a
link, text in a table). A tree that keeps these rules is read back as it was written. They are a little stricter than
the parser in rare places, never laxer.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from outlast.apps.pages.allowed_elements import HEADINGS, HTML, SVG, TEXT_ONLY, VOID
from outlast.base.data_files import read_names

MAX_DEPTH: Final = 100  # browsers flatten what lies much deeper

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
    """Where something stands: its parent, and what is open around it as the parser sees it."""

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
    """What is around the content of an element that stands there, or why it cannot stand there."""
    if where.depth >= MAX_DEPTH:
        return f"elements lie more than {MAX_DEPTH} deep in each other"
    if where.tag in TEXT_ONLY:
        return f"a {where.tag} holds only text"
    if where.svg:
        return replace(where, tag=tag, depth=where.depth + 1) if tag in SVG else _not_in(tag, "drawing (svg)")
    refused = _refused(where, tag)
    return refused or _after(where, tag)


def _refused(where: Inside, tag: str) -> str:
    if tag not in HTML:
        return f"a {tag} stands only in a drawing (svg)"
    if tag not in _CHILDREN.get(where.tag, (tag,)):
        wanted = ", ".join(sorted(_CHILDREN[where.tag]))
        return f"{_article(where.tag)} holds only {wanted}, not {tag}"
    if where.tag not in _PARENTS.get(tag, (where.tag,)):
        wanted = " or ".join(sorted(_PARENTS[tag]))
        return f"{_article(tag)} stands only directly in {wanted}"
    if where.p and tag in _CLOSES_P:
        return _not_in(tag, "p (paragraph)")
    if (where.a and tag == "a") or (where.button and tag == "button") or (where.form and tag == "form"):
        return _not_in(tag, tag)
    if (where.li and tag == "li") or (where.item and tag in ("dd", "dt")):
        return f"{_article(tag)} cannot stand in another one without a list between them"
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
    """What is around the content of an element, given the tags from the outermost down to itself, all in place."""
    where = Inside()
    for tag in tags:
        where = replace(where, tag=tag, depth=where.depth + 1) if where.svg else _after(where, tag)
    return where


def text_refused(tag: str, text: str) -> str:
    """Why an element cannot hold this text; empty: it can."""
    if tag in VOID:
        return f"{_article(tag)} holds nothing"
    if tag in WITHOUT_TEXT and text.strip(" \t\n\f"):
        return f"{_article(tag)} holds no text, only {', '.join(sorted(_CHILDREN[tag]))}"
    return ""


def _not_in(tag: str, outer: str) -> str:
    return f"{_article(tag)} cannot stand in {_article(outer)}"


def _article(tag: str) -> str:
    return f"{'an' if tag[0] in 'aeiou' or tag in HEADINGS else 'a'} {tag}"

"""Turn HTML from a model or a person into the allowed elements of a page. Pure.

nh3 parses it like browsers, keeps `allowed_elements` and their `allowed_attributes` and drops the rest; its output is
then checked again by our own rules: each value by its meaning, each element by its place, so that a browser
parses exactly the same tree and nothing runs, loads or posts.

Bounds: `pages.html_bytes` by the caller, and those of `parser_bounds`; 100 KB take 100 ms.
"""

import re
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import nh3

from outlast.apps.pages import tree as trees
from outlast.apps.pages.allowed_attributes import (
    GLOBAL,
    OF_TAG,
    OTHER_SCHEMES,
    SVG_ATTRIBUTES,
    WEB_SCHEMES,
    kept_attributes,
    plain,
)
from outlast.apps.pages.allowed_elements import DRAWN, DROPPED, HEADINGS, HTML, SVG
from outlast.apps.pages.content_model import WITHOUT_TEXT, Inside, entered, text_refused
from outlast.apps.pages.parser_bounds import demand_bounded
from outlast.apps.pages.refusals import Refused
from outlast.apps.pages.tree import Element, read_canonical, settle
from outlast.base.lazy_module import LazyModule
from outlast.base.records import dataclass

if TYPE_CHECKING:
    from lxml import etree
else:
    etree = LazyModule("lxml.etree")


MAX_GIVING_WAY: Final = 2000
_TAGS: Final = set(HTML | SVG)
_ATTRIBUTES: Final[dict[str, set[str]]] = {
    tag: set(OF_TAG.get(tag, ())) | (set(SVG_ATTRIBUTES) if tag in DRAWN else set()) for tag in _TAGS
}
_ATTRIBUTES["*"] = set(GLOBAL)
_ATTRIBUTES["use"].add("href")
_OPTIONS: Final[dict[str, Any]] = {
    "tags": _TAGS,
    "clean_content_tags": set(DROPPED - _TAGS),
    "attributes": {tag: names for tag, names in _ATTRIBUTES.items() if names},
    "generic_attribute_prefixes": {"data-", "aria-"},
    "url_schemes": {*WEB_SCHEMES, *OTHER_SCHEMES, "data"},
    "link_rel": None,
    "strip_comments": True,
}
_CLEANER: Final = nh3.Cleaner(**_OPTIONS)
_PLAIN_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9-]*")
_CAREFUL: Final = nh3.Cleaner(
    **_OPTIONS, attribute_filter=lambda _tag, name, value: value if _PLAIN_NAME.fullmatch(name) else None
)
_TAG_WITH_PREFIX: Final = re.compile(r"<[^<>]*\s\w+:[^<>]*>")
_PREFIXED: Final = re.compile(r'\s\w+:[^\s=]+="[^"]*"')  # `xlink:href`
# HTML is parsed by context: rows are rows only in a table.
_AROUND: Final = {
    "table": ("table",),
    "thead": ("table", "thead"),
    "tbody": ("table", "tbody"),
    "tfoot": ("table", "tfoot"),
    "tr": ("table", "tbody", "tr"),
    "colgroup": ("table", "colgroup"),
    "select": ("select",),
    "optgroup": ("select", "optgroup"),
}
_TOLD: Final = (
    (re.compile(r"<script\b", re.IGNORECASE), "scripts do not run on pages: use data-action and patches"),
    (re.compile(r"<style\b|<link\b", re.IGNORECASE), "style sheets are not allowed: use classes and style attributes"),
    (
        re.compile(r"<(?:iframe|object|embed|video|audio)\b", re.IGNORECASE),
        "pages cannot embed (iframe, object, embed, video, audio)",
    ),
    (
        re.compile(r"<[a-z][^<>]*\son[a-z]{3,20}\s*+=", re.IGNORECASE),
        "event attributes (onclick …) are not allowed: use data-action",
    ),
    (
        re.compile(r"<img\b[^<>]*\ssrc\s*+=\s*+[\"']?+\s*+(?!data:)[^\s\"'>]", re.IGNORECASE),
        "pictures are shown only as data: URLs (PNG, JPEG, GIF, WebP, AVIF in base64); draw with inline SVG",
    ),
)


@dataclass(frozen=True, slots=True)
class Clean:
    """The sanitised HTML: a detached element that contains it. `told`: removed parts that its author should know of."""

    fragment: Element
    told: tuple[str, ...] = ()


def sanitised(html: str, context: str = "div") -> Clean:
    """Sanitise HTML for an element `context`. The caller must check that it may be at the exact place, given the
    elements around it (`misplaced`). Raises `Refused` if no part of it is allowed there."""
    html = plain(html)
    demand_bounded(html)
    told = tuple(text for pattern, text in _TOLD if pattern.search(html))
    tag = "div" if context in HEADINGS else context  # a heading in a heading is refused, not silently undone
    where = Inside(tag=tag, svg=context in DRAWN)
    fragment = _read(html, where)
    if _tidied(fragment, where):
        # The content of replaced elements may be where the parser would not have put it.
        fragment = _read(trees.inner_html(fragment), where)
        _tidied(fragment, where)
    return Clean(fragment, told)


def misplaced(fragment: Element, where: Inside) -> str:
    """The reason why the content of `fragment` cannot be there; empty if it can."""
    texts = (text_refused(where.tag, text) for text in _texts(fragment))
    elements = (element_misplaced(child, where) for child in fragment)
    return next(filter(None, chain(texts, elements)), "")


def element_misplaced(element: Element, where: Inside) -> str:
    """The reason why an element with its content cannot be there; empty if it can."""
    inside = entered(where, element.tag)
    if isinstance(inside, str):
        return inside
    return next(filter(None, (element_misplaced(child, inside) for child in element)), "")


def _read(html: str, where: Inside) -> Element:
    """The HTML as parsed at this place, as unchecked elements."""
    opening = ["svg"] if where.svg else list(_AROUND.get(where.tag, ()))
    fragment = _parsed("".join(f"<{tag}>" for tag in opening) + html)
    for tag in opening:
        # Rows outside of their table, and elements outside of their SVG, are not where the patch put them.
        if len(fragment) != 1 or fragment[0].tag != tag or _has_words(fragment):
            raise Refused(f"a {where.tag} cannot contain that")
        fragment = fragment[0]
    return fragment


def _has_words(fragment: Element) -> bool:
    return any(text and not text.isspace() for text in _texts(fragment))


def _texts(element: Element) -> list[str]:
    """The texts directly in an element, before, between and after its children."""
    return [element.text or "", *(child.tail or "" for child in element)]


def _parsed(html: str) -> Element:
    try:
        return read_canonical(plain(_CLEANER.clean(html)))
    except etree.XMLSyntaxError:  # an attribute name that is invalid in a tree
        pass
    html = _TAG_WITH_PREFIX.sub(lambda tag: _PREFIXED.sub("", tag[0]), _CAREFUL.clean(html))
    try:
        return read_canonical(plain(html))
    except etree.XMLSyntaxError:
        raise Refused("its elements are nested too deep") from None


def _tidied(parent: Element, where: Inside) -> int:
    """Bring the content of an element into canonical form. Returns the number of elements replaced by their content."""
    changed = 0
    child = next(iter(parent), None)
    while child is not None:
        inside = entered(where, child.tag)
        if isinstance(inside, str):
            changed += 1
            if changed > MAX_GIVING_WAY:
                raise Refused("too many of its elements are misplaced")
            child = _give_way(child)
            continue
        given = child.attrib.items()
        if given:
            kept = kept_attributes(child.tag, given)
            if list(kept.items()) != given:
                child.attrib.clear()
                child.attrib.update(kept)
        changed += _tidied(child, inside)
        child = child.getnext()
    if where.tag in WITHOUT_TEXT and _has_words(parent):
        parent.text = None
        for child in parent:
            child.tail = None
    settle(parent)
    return changed


def _give_way(element: Element) -> Element | None:
    """Replace an element by its content; a title of a document or SVG is removed with its text. Returns the
    element to check next: the first of its content, or the one after it."""
    following = element.getnext()
    if element.tag != "title":
        if element.text:
            trees.add_text_before(element, element.text)
        children = list(element)
        following = children[0] if children else following
        for held in children:
            element.addprevious(held)
    trees.take_out(element)
    return following

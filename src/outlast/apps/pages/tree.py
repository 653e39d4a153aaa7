"""A page as a tree of elements (lxml), and its one canonical HTML.

The canonical HTML is a browser's `innerHTML` of the same tree: it can be compared byte for byte. A tree is
built from canonical HTML only; any other HTML passes `sanitise` first. SVG elements have no namespace
here: their place identifies them.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from outlast.apps.pages.allowed_elements import LEADING_BREAK_LOST, VOID
from outlast.apps.pages.content_model import Inside, around
from outlast.base.lazy_module import LazyModule

if TYPE_CHECKING:
    from lxml import etree
else:
    etree = LazyModule("lxml.etree")


Element = Any  # of lxml, which is not typed
ROOT: Final = "page"
_PARSER: Final = {
    "resolve_entities": False,
    "no_network": True,
    "load_dtd": False,
    "huge_tree": True,
    "remove_blank_text": False,
    "collect_ids": False,
}
_VOID_TAG: Final = re.compile(rf"<({'|'.join(sorted(VOID))})(\s[^<>]*)?>")
_TAG_WITH_BREAKS: Final = re.compile(r"<[^<>\n\t]*[\n\t][^<>]*>")
_BREAK_IN_VALUE: Final = re.compile(r'"[^"]*"')


class Tree:
    """A page's elements. Not thread-safe."""

    __slots__ = ("root",)

    def __init__(self, html: str = "") -> None:
        self.root = read_canonical(html)

    def html(self) -> str:
        """The page's canonical HTML."""
        return inner_html(self.root)

    def find(self, element_id: str) -> Element | None:
        """The first element with this id, as browsers find it."""
        found = _compiled("/descendant::*[@id=$id][1]")(self.root, id=element_id)
        return found[0] if found else None

    def ids(self) -> Iterator[str]:
        """Every id, in the order of the page."""
        return iter(self.root.xpath("//@id"))


@cache
def _compiled(path: str) -> Any:
    return etree.XPath(path)


def read_canonical(html: str) -> Element:
    """An element with this canonical HTML as content. Raises `etree.XMLSyntaxError` if it is not canonical."""
    body = _VOID_TAG.sub(r"<\1\2/>", html.replace("&nbsp;", "\u00a0"))
    if "\n" in body or "\t" in body:
        body = _TAG_WITH_BREAKS.sub(_breaks_kept, body)
    root = etree.fromstring(f"<{ROOT}>{body}</{ROOT}>", etree.XMLParser(**_PARSER))
    for element in root.iter():
        settle(element)
    return root


def inner_html(element: Element) -> str:
    """The content of an element, as canonical HTML."""
    whole = outer_html(element)
    return whole[whole.index(">") + 1 : whole.rindex("<")]


def outer_html(element: Element) -> str:
    """An element with its content, as canonical HTML, without the text after it."""
    xml: str = etree.tostring(element, encoding="unicode", method="xml", with_tail=False)
    # Only empty elements are written with a slash, and every other markup character is escaped.
    html = xml.replace("/>", ">").replace("\u00a0", "&nbsp;")
    return html.replace("&#10;", "\n").replace("&#9;", "\t") if "&#" in html else html


def settle(element: Element) -> None:
    """Call this for an element whose content has changed: an empty one is written with its end tag, and no
    text begins where browsers would drop its line break."""
    if element.tag in VOID:
        return
    if element.tag in LEADING_BREAK_LOST and element.text:
        element.text = element.text.lstrip("\n")
    if element.text is None and len(element) == 0:
        element.text = ""


def inside_of(element: Element) -> Inside:
    """The context of the content of an element of the page."""
    tags = [*[one.tag for one in element.iterancestors()][-2::-1], element.tag] if element.tag != ROOT else []
    return around(tags)


def take_out(element: Element) -> None:
    """Remove an element; the text after it stays."""
    parent = element.getparent()
    if element.tail:
        add_text_before(element, element.tail)
    parent.remove(element)
    element.tail = None
    settle(parent)


def add_text_before(element: Element, text: str) -> None:
    """Add text right before an element, after the text there."""
    _add_text(element.getparent(), element.getprevious(), text)


def clear_content(element: Element) -> None:
    """Remove the content of an element."""
    element[:] = []
    element.text = None


def put(parent: Element, index: int, fragment: Element, *, before_text: bool = False) -> None:
    """Insert the content of `fragment` into `parent` before its child number `index` (the number of children appends):
    after the text there, or before it with `before_text`. The fragment is empty afterwards."""
    before = parent[index - 1] if index else None
    text = _take_text(parent, before) if before_text else ""
    _add_text(parent, before, fragment.text)
    children = list(fragment)
    parent[index:index] = children
    fragment.text = None
    _add_text(parent, children[-1] if children else before, text)
    settle(parent)


def _add_text(parent: Element, before: Element | None, text: str | None) -> None:
    """Add text after the child `before` and the text there (at the start if None)."""
    if not text:
        return
    if before is None:
        parent.text = (parent.text or "") + text
    else:
        before.tail = (before.tail or "") + text


def _take_text(parent: Element, before: Element | None) -> str:
    """Remove the text after the child `before` (at the start if None)."""
    if before is None:
        text, parent.text = parent.text, None
    else:
        text, before.tail = before.tail, None
    return text or ""


def _breaks_kept(tag: re.Match[str]) -> str:
    """Escape line breaks in values: an XML parser would turn them into spaces."""
    return _BREAK_IN_VALUE.sub(lambda value: value[0].replace("\n", "&#10;").replace("\t", "&#9;"), tag[0])

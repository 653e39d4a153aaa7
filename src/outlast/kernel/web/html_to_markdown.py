"""A web page's text as Markdown: its main part, with the fragments of its headings, without navigation. Pure."""

import re
from typing import Any, Final
from urllib.parse import urljoin

from bs4 import BeautifulSoup, Tag
from markdownify import ATX, MarkdownConverter

from outlast.kernel.web.errors import NoPage

# Main content elements of documentation generators, the most specific first.
_MAIN: Final = ("main article", "article", "main", "[role=main]", ".markdown-body", "#content", ".content", "body")
_NEVER: Final = (
    "script, style, noscript, template, svg, iframe, object, form, button, input, select, dialog, nav, footer, aside, "
    "[role=navigation], [role=search], [role=contentinfo], [role=complementary], [aria-hidden=true], [hidden], "
    "a.headerlink, a.anchor, a.hash-link, a.header-anchor, .breadcrumbs, .breadcrumb, .pagination, .toc, .sidebar"
)
MAX_CHARS: Final = 5_000_000
DEEPEST: Final = 200  # ordinary pages have 20 to 60
_ENOUGH_CHARS: Final = 200
_LANGUAGE: Final = re.compile(r"(?:^|\s)(?:language|lang|highlight|brush)[-:](?:source-)?([\w+#-]+)")
_FENCES: Final = re.compile(r"^[ \t]*(`{3,})", re.MULTILINE)
_ID: Final = re.compile(r"[\w:.-]+\Z")
_HEADING: Final = re.compile(r"h[1-6]\Z")


def read_web_page(html: str, url: str) -> tuple[str, str]:
    """(title, Markdown) of a page at `url`: at most `MAX_CHARS` of HTML, elements nested at most `DEEPEST` deep.
    Raises `NoPage`. Blocking, 100 KB take 0.3 s: call it in a thread."""
    try:
        return _title_and_markdown(html, url)
    except RecursionError:
        raise NoPage("its elements are nested too deeply") from None


def _title_and_markdown(html: str, url: str) -> tuple[str, str]:
    if len(html) > MAX_CHARS:
        raise NoPage(f"it is longer than {MAX_CHARS:,} characters")
    soup = BeautifulSoup(html, "lxml")
    _demand_shallow(soup)
    title = _title(soup)
    main = _main(soup)
    for heading in main.find_all(_HEADING):
        _note_fragment(heading)
    for link in main.find_all("a", href=True):
        link["href"] = urljoin(url, str(link["href"]))
    text = _Converter(
        heading_style=ATX, bullets="-", escape_asterisks=False, escape_underscores=False, table_infer_header=True
    ).convert_soup(main)
    return title, re.sub(r"\n{3,}", "\n\n", str(text)).strip()


class _Converter(MarkdownConverter):
    """Like the library, except: fragments of headings are kept, images become their description, code keeps its
    language and gets a longer fence than any inside it."""

    def convert_hN(self, n: int, el: Tag, text: str, parent_tags: set[str]) -> str:  # noqa: N802 - the library's
        if "_inline" in parent_tags:
            return text
        title = " ".join(text.split())
        fragment = str(el.get("data-fragment") or "")
        return f"\n\n{'#' * min(n, 6)} {title}{f' {{#{fragment}}}' if fragment else ''}\n\n" if title else ""

    def convert_img(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return str(el.get("alt") or "")

    def convert_a(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        target = str(el.get("href") or "")
        if not text.strip() or "_noformat" in parent_tags or not target.startswith(("http://", "https://")):
            return text
        return f"[{text.strip()}]({target})"

    def convert_pre(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        code = el.get_text().strip("\n")
        if not code.strip():
            return ""
        fence = "`" * max(3, *(len(found) + 1 for found in _FENCES.findall(code)), 3)
        return f"\n\n{fence}{_language(el)}\n{code}\n{fence}\n\n"


def _demand_shallow(soup: BeautifulSoup) -> None:
    depths = {id(soup): 0}
    for element in soup.descendants:
        if isinstance(element, Tag):
            depth = depths[id(element)] = depths[id(element.parent)] + 1
            if depth > DEEPEST:
                raise NoPage("its elements are nested too deeply")


def _title(soup: BeautifulSoup) -> str:
    named = soup.find("h1") or soup.find("title")
    return " ".join(named.get_text(" ").split()).rstrip("¶#").strip() if named is not None else ""


def _main(soup: BeautifulSoup) -> Tag:
    """The main part of the page, cleaned."""
    found: Tag = soup
    for selector in _MAIN:
        candidates = soup.select(selector)
        if len(candidates) == 1 or selector == "body":
            found = candidates[0] if candidates else soup
            if len(found.get_text(" ", strip=True)) >= _ENOUGH_CHARS:
                break
    for unwanted in found.select(_NEVER):
        if unwanted.parent is not None:
            unwanted.decompose()
    headed: set[int] = set()
    for heading in found.find_all(_HEADING):
        headed.update(id(parent) for parent in heading.parents)
    for header in found.find_all("header"):
        if id(header) not in headed:
            header.decompose()
    return found


def _note_fragment(heading: Tag) -> None:
    """A heading's address: its own id, that of a link in it, or that of the section that it begins."""
    inner = heading.find(id=True) or heading.find("a", attrs={"name": True})
    parent = heading.parent
    candidates: list[Any] = [heading.get("id")]
    if isinstance(inner, Tag):
        candidates += [inner.get("id"), inner.get("name")]
    if parent is not None and parent.name in ("section", "div") and _is_first(parent, heading):
        candidates.append(parent.get("id"))
    fragment = next((str(one) for one in candidates if one and _ID.match(str(one))), "")
    if fragment:
        heading["data-fragment"] = fragment


def _is_first(parent: Tag, child: Tag) -> bool:
    first = parent.find(True, recursive=False)
    return first is child or (isinstance(first, Tag) and first.name == "span" and first.find_next_sibling() is child)


def _language(pre: Tag) -> str:
    for element in (pre, pre.find("code"), pre.parent):
        if isinstance(element, Tag):
            stated = _LANGUAGE.search(" ".join(str(one) for one in element.get_attribute_list("class")))
            if stated is not None:
                return stated[1]
            if element.get("data-lang"):
                return str(element["data-lang"])
    return ""

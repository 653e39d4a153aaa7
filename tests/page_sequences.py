"""Random pages and patches, as a careless or a hostile model might write them: tag soup, rows without tables, lists in
paragraphs, drawings, fields, odd text. From a seed, always the same."""

from __future__ import annotations

import random
from dataclasses import dataclass

from outlast.apps.pages.apply import apply_patches
from outlast.apps.pages.patches import read_patch
from outlast.apps.pages.sanitizer import sanitised
from outlast.apps.pages.shapes import Patch
from outlast.apps.pages.tree import Tree, inner_html


def sanitised_html(html: str) -> str:
    """The canonical HTML of what a page keeps of `html`."""
    return inner_html(sanitised(html).fragment)


def words(text: str) -> list[str]:
    return text.split()


IDS = [f"i{number}" for number in range(14)]
TAGS = words(
    "div p span b i a em strong code pre h1 h2 ul ol li dl dt dd table thead tbody tfoot tr td th caption "
    "colgroup col section article header blockquote form fieldset legend label input button select option "
    "optgroup textarea datalist details summary dialog img br hr wbr svg g path circle rect text tspan "
    "title desc defs linearGradient stop use ruby rt rp figure figcaption main nav menu address output "
    "progress meter time mark s u small sub sup"
)
BAD_TAGS = words(
    "script style iframe object embed template noscript math mi annotation-xml foreignObject marquee font "
    "center nobr applet frameset frame body html head base link meta video plaintext xmp listing image "
    "isindex animate set custom-element o:p \u00fcnknown"
)
TEXTS = (
    "x",
    "  ",
    "\n",
    "\n\nlines\n",
    "a & b",
    "&lt;b&gt;",
    "&amp;amp;",
    "&nbsp;",
    "&#x41;",
    "&#0;",
    "&#13;",
    "&notit;",
    "\u00a0",
    "\u2028",
    "\u00e4\u00f6\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"),
    "\u202e",
    "]]>",
    "--",
    "<!-- c -->",
    "<![CDATA[x]]>",
    "<?php x ?>",
    "<!doctype html>",
    '"',
    "'",
    "\t",
    "\x0c",
    "\x01",
    "\x00",
    "/>",
    "<",
    "< b",
)
ATTRIBUTES = (
    'class="card grid"',
    "class='  a  b '",
    'style="color: red; background: url(x)"',
    "style='--x: 1; width: calc(1px + 2px)'",
    'title="a&lt;b&quot;c&nbsp;d"',
    "title='l1\nl2\tl3'",
    "hidden",
    "data-action=go",
    "data-x='{\"a\":1}'",
    "data-outlast-busy=x",
    "aria-label=x",
    "onclick=alert(1)",
    "href=#i1",
    "href=https://example.com/?a&b",
    "href=javascript:alert(1)",
    "src=data:image/png;base64,AAAA",
    "src=//x/y",
    "type=checkbox",
    "type=hidden",
    "name=id",
    "name=attributes",
    "name=firstChild",
    "value=1",
    "checked",
    "disabled",
    "selected",
    "open",
    "colspan=2",
    "viewBox='0 0 1 1'",
    "fill=url(#g)",
    "d='M0 0'",
    "role=list",
    "lang=en",
    "dir=rtl",
    "xmlns=x",
    "xlink:href=#i1",
    'x"y=1',
    "=z",
    "tabindex=0",
    "tabindex=5",
)


def soup(rng: random.Random, most: int = 8, tags: list[str] | None = None) -> str:
    """Tags opened and closed as it comes."""
    written: list[str] = []
    open_tags: list[str] = []
    for _ in range(rng.randint(1, most)):
        kind = rng.random()
        if kind < 0.55:
            tag = rng.choice(tags) if tags and rng.random() < 0.8 else rng.choice(TAGS)
            if rng.random() < 0.06:
                tag = rng.choice(BAD_TAGS)
            given = [f"id={rng.choice(IDS)}"] if rng.random() < 0.6 else []
            given += [rng.choice(ATTRIBUTES) for _ in range(rng.choice((0, 0, 0, 1, 2)))]
            written.append(f"<{' '.join([tag, *given])}{'/' if rng.random() < 0.04 else ''}>")
            open_tags.append(tag)
        elif kind < 0.85:
            written.append(rng.choice(TEXTS))
        elif open_tags:
            tag = open_tags.pop() if rng.random() < 0.8 else rng.choice(TAGS)
            written.append(f"</{tag}>")
    if rng.random() < 0.8:
        written += [f"</{tag}>" for tag in reversed(open_tags)]
    return "".join(written)


SHAPES = (
    "<table id=i0><caption>c</caption><tbody id=i1><tr id=i2><td id=i3>1<td>2<tr><td>3</table>",
    "<ul id=i4><li id=i5>a<li>b</ul><ol><li><p id=i6>c</ol>",
    (
        "<form id=i7 data-action=save><label>N <input id=i8 name=id value=1></label><select id=i9 name=attributes>"
        "<option>a<option selected>b</select><textarea id=i10>\n\nt</textarea><button>Go</button></form>"
    ),
    (
        '<svg id=i11 viewBox="0 0 9 9"><defs><linearGradient id=i12><stop offset=0 /></linearGradient></defs>'
        "<g id=i13><circle r=1 /><text>t</text><title>T</title></g></svg>"
    ),
    "<p id=i0>one <b id=i1>two</b> three<br>four</p><pre id=i2>\n\nx\n<i id=i3>y</i>\nz</pre>",
    "<details id=i4><summary>s</summary><dl id=i5><dt>t<dd id=i6>d</dl></details><h1 id=i7>T</h1>",
    "<div id=i8><a id=i9 href=#x>link <b>bold</b></a><ruby>r<rt>t</ruby></div>",
    "",
)
FITTING = {
    "rows": ["tr", "td", "th"],
    "list": ["li", "p", "ul"],
    "drawing": ["g", "path", "circle", "text", "title", "rect"],
    "choice": ["option", "optgroup"],
    "words": ["b", "i", "a", "span", "code"],
}


def random_patch(rng: random.Random, ids: list[str]) -> dict[str, object]:
    """A patch as JSON says it, mostly of elements that there are; many do not fit."""
    known = [*ids, rng.choice(IDS)]
    at = "page" if rng.random() < 0.06 else f"#{rng.choice(known)}"
    kind = rng.choice(
        ["text", "html", "replace", "append", "prepend", "before", "after", "remove", "attributes", "classes", "move"]
    )
    patch: dict[str, object] = {"op": kind, "at": at}
    if kind == "text":
        patch["text"] = "".join(rng.choice(TEXTS) for _ in range(rng.randint(0, 3)))
    elif kind in ("html", "replace", "append", "prepend", "before", "after"):
        tags = rng.choice([None, *FITTING.values()])
        if kind == "replace" and rng.random() < 0.5:
            tag = rng.choice(TAGS)
            patch["html"] = f"{rng.choice(('', 'x'))}<{tag} id={at[1:]}>{soup(rng, 5, tags)}</{tag}>{soup(rng, 2)}"
        else:
            patch["html"] = soup(rng, 7, tags)
    elif kind == "attributes":
        names = [
            "title",
            "class",
            "id",
            "style",
            "href",
            "src",
            "type",
            "value",
            "viewBox",
            "fill",
            "onclick",
            "data-x",
        ]
        patch["set"] = {
            rng.choice(names): rng.choice(("1", "a\r\nb", "#i1", "color:red", "https://x.y/", 'a"<>&\u00a0'))
        }
        patch["remove"] = [rng.choice(names)] if rng.random() < 0.4 else []
    elif kind == "classes":
        patch["add"] = [rng.choice(("a", "b", "card", "outlast-x"))]
        patch["remove"] = [rng.choice(("a", "b", "grid"))]
    elif kind == "move":
        patch["to"] = "page" if rng.random() < 0.1 else f"#{rng.choice(known)}"
        patch["place"] = rng.choice(("before", "after", "append", "prepend"))
    return patch


@dataclass
class Sequence:
    """A page, and what each line of patches made of it on the server."""

    seed: int
    start: str
    steps: list[tuple[list[Patch], str]]
    refused: int


def sequence(seed: int, most: int = 8) -> Sequence:
    rng = random.Random(seed)
    start = sanitised_html("".join(rng.sample(SHAPES, rng.randint(1, 3))) + soup(rng, 12))
    tree, steps, refused = Tree(start), [], 0
    for _ in range(rng.randint(3, most)):
        ids = [str(one) for one in tree.ids()]
        read = [read_patch(random_patch(rng, ids)) for _ in range(rng.randint(1, 4))]
        asked = [patch for patch in read if isinstance(patch, Patch)]
        applied = apply_patches(tree, asked)
        refused += applied.refused
        steps.append((list(applied.patches), tree.html()))
    return Sequence(seed, start, steps, refused)

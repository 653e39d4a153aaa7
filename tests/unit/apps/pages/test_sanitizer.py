# ruff: noqa: E501 - a case is a line
"""What pages keep of HTML: this is written, that is kept."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.apps.pages.allowed_attributes import kept_attributes
from outlast.apps.pages.allowed_styles import kept_style
from outlast.apps.pages.refusals import Refused
from outlast.apps.pages.sanitizer import sanitised
from outlast.apps.pages.tree import Tree, inner_html
from tests.hostile_html import HOSTILE
from tests.page_sequences import sanitised_html, soup


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("<p>a<p>b", "<p>a</p><p>b</p>"),
        ("a & b &lt; c\u00a0d", "a &amp; b &lt; c&nbsp;d"),
        ("<div title='a\"<b>'>x</div>", '<div title="a&quot;&lt;b&gt;">x</div>'),
        ("<table><tr><td>1", "<table><tbody><tr><td>1</td></tr></tbody></table>"),
        ("<pre>\n\n\nx\n</pre>", "<pre>x\n</pre>"),
        ("<h1 class='  a  b outlast-x '>T</h1>", '<h1 class="a b">T</h1>'),
        ("<html><head><title>T</title><style>x</style></head><body class=x><p>b</body>", "<p>b</p>"),
        ("<center><font color=red>x</font></center>", "x"),
        ("<picture><source srcset=a><img alt=b></picture>", '<img alt="b">'),
        ("<button data-action=close data-issue=7 onclick=x>Close</button>", '<button data-action="close" data-issue="7">Close</button>'),
        ("<button data-action='Close it'>x</button>", "<button>x</button>"),
        ("<form action=/x method=post data-action=save><input name=q></form>", '<form data-action="save"><input name="q"></form>'),
        ("<a href=https://a.test/?b&amp;c>x</a>", '<a href="https://a.test/?b&amp;c" target="_blank" rel="noopener noreferrer">x</a>'),
        ("<a href=#top target=_top>x</a>", '<a href="#top">x</a>'),
        ("<input type=password name=p><input type=FILE>", '<input name="p"><input>'),
        ("<input type=checkbox checked=x disabled>", '<input type="checkbox" checked="" disabled="">'),
        ("<img src='data:image/png;base64,iVBO Rw0K' alt=x>", '<img src="data:image/png;base64,iVBORw0K" alt="x">'),
        ("<img src=data:image/svg+xml;base64,iVBO>", "<img>"),
        ("<details open><summary>s</summary>x</details>", '<details open=""><summary>s</summary>x</details>'),
        ("<button popovertarget=p>o</button><div id=p popover>x</div>", '<button popovertarget="p">o</button><div id="p" popover="">x</div>'),
        ("<button commandfor=d command=show-modal>o</button><dialog id=d>x</dialog>", '<button commandfor="d" command="show-modal">o</button><dialog id="d">x</dialog>'),
        ("<td colspan=2 width=3>x", "x"),
        ("<select><option value=1 selected>a<optgroup label=g><option>b</select>", '<select><option value="1" selected="">a</option><optgroup label="g"><option>b</option></optgroup></select>'),
        ("<svg viewbox='0 0 1 1'><g fill=url(#a)><path d=M0 /></g><animate /></svg>", '<svg viewBox="0 0 1 1"><g fill="url(#a)"><path d="M0"></path></g></svg>'),
        ("<svg><rect fill=var(--chart-1) /></svg>", '<svg><rect fill="var(--chart-1)"></rect></svg>'),
        ("<circle r=1></circle>", ""),
        ("x<!-- c -->y", "xy"),
        ("<div id='1a b'>x</div>", "<div>x</div>"),
        ("<p aria-label=a role=note tabindex=-1 tabindex=9 lang=de dir=rtl hidden=until-found>x</p>", '<p aria-label="a" role="note" tabindex="-1" lang="de" dir="rtl" hidden="">x</p>'),
    ],
)  # fmt: skip
def test_of_html_is_kept(written: str, kept: str) -> None:
    assert sanitised_html(written) == kept


@pytest.mark.parametrize(
    ("style", "kept"),
    [
        ("color:red;WIDTH : 10px ;", "color: red; width: 10px"),
        ("color: red !important", "color: red !important"),
        ("background: linear-gradient(90deg, red 10%, rgb(1 2 3 / 0.5))", "background: linear-gradient(90deg, red 10%, rgb(1 2 3 / 0.5))"),
        ("grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr))", "grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr))"),
        ("width: calc((100% - 2px) * var(--x))", "width: calc((100% - 2px) * var(--x))"),
        ("font-family: 'A B', serif", "font-family: 'A B', serif"),
        ("font-family: 'A; B', serif; color: red", "color: red"),
        ("--x: 3; color: var(--x)", "--x: 3; color: var(--x)"),
        ("position: fixed; position: sticky", "position: sticky"),
        ("position: FIXED !important", ""),
        ("background: url(x); color: red", "color: red"),
        ("background: u\\72l(x)", ""),
        ("color: red; } a { color: blue", "color: red"),
        ("behavior: x; src: y; content: z; animation: outlast-turn 1s", ""),
        ("color: /**/ red", ""),
        ("color: red)", ""),
        ("color: 'red", ""),
        ("nonsense", ""),
        ("color:", ""),
        ("x" * 5000, ""),
    ],
)  # fmt: skip
def test_of_a_style_is_kept(style: str, kept: str) -> None:
    assert kept_style(style) == kept
    assert kept_style(kept) == kept


@pytest.mark.parametrize(
    ("context", "written", "kept"),
    [
        ("tbody", "<tr><td>1<tr><td>2", "<tr><td>1</td></tr><tr><td>2</td></tr>"),
        ("tr", "<td>1<th>2", "<td>1</td><th>2</th>"),
        ("table", "<tr><td>1", "<tbody><tr><td>1</td></tr></tbody>"),
        ("colgroup", "<col span=2><col>", '<col span="2"><col>'),
        ("select", "<option>a<option>b", "<option>a</option><option>b</option>"),
        ("svg", "<circle r=1 /><text>t</text>", '<circle r="1"></circle><text>t</text>'),
        ("g", "<clippath id=c><path d=M0 /></clippath>", '<clipPath id="c"><path d="M0"></path></clipPath>'),
        ("textarea", "<b>a</b> &lt;i&gt;", "a &lt;i&gt;"),
        ("option", "<b>a</b>", "a"),
        ("div", "<tr><td>1", "1"),
    ],
)
def test_html_is_read_for_where_it_is_to_stand(context: str, written: str, kept: str) -> None:
    assert inner_html(sanitised(written, context).fragment) == kept


@pytest.mark.parametrize(
    ("context", "written"),
    [("tbody", "<div>x</div>"), ("tbody", "x<tr></tr>"), ("svg", "<div>x</div>"), ("tr", "</tr></table><p>x")],
)
def test_html_that_does_not_stay_where_it_is_to_stand_is_refused(context: str, written: str) -> None:
    with pytest.raises(Refused, match="cannot contain that"):
        sanitised(written, context)


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("<script>x</script>", "scripts do not run"),
        ("<style>x</style>", "style sheets"),
        ("<p onclick=x>", "event attributes"),
        ("<iframe src=x></iframe>", "cannot embed"),
        ("<img src=https://a.test/b.png>", "data: URLs"),
    ],
)
def test_what_is_left_out_and_matters_is_told(written: str, told: str) -> None:
    (text,) = sanitised(written).told
    assert told in text


def test_nothing_is_told_of_html_that_is_kept_whole() -> None:
    assert (
        sanitised("<p data-action=on-click title='&lt;script'>on x = 1</p><img src='data:image/png;base64,AA=='>").told
        == ()
    )


def test_names_of_attributes_that_no_tree_holds_do_not_lose_the_rest() -> None:
    assert sanitised_html('<p data-"x=1 data-é=2 title=t>x</p>').endswith('title="t">x</p>')
    assert (
        sanitised_html("<svg xlink:href=x xml:lang=de xmlns:a=b><g xlink:title=x id=g></g></svg>")
        == '<svg><g id="g"></g></svg>'
    )


def test_very_deep_html_is_flattened_or_refused_and_never_hangs() -> None:
    assert sanitised_html("<div>" * 600 + "x").count("<div>") == 100
    with pytest.raises(Refused, match="too deep"):
        sanitised_html("<div>" * 5000 + "x")


def test_an_element_has_a_bounded_number_of_attributes() -> None:
    assert len(kept_attributes("p", [(f"data-a{number}", "x") for number in range(200)])) == 80


@pytest.mark.parametrize("html", HOSTILE)
def test_hostile_html_is_the_same_when_it_is_sanitised_again(html: str) -> None:
    once = sanitised_html(html)
    assert sanitised_html(once) == once
    assert Tree(once).html() == once


@given(st.integers(0, 2**32))
def test_sanitising_again_changes_nothing_and_a_tree_is_written_as_it_was_read(seed: int) -> None:
    once = sanitised_html(soup(random.Random(seed), 30))
    assert sanitised_html(once) == once
    assert Tree(once).html() == once


@given(st.text())
def test_any_text_is_safe_and_stable(text: str) -> None:
    once = sanitised_html(text)
    assert sanitised_html(once) == once
    assert Tree(once).html() == once


@pytest.mark.parametrize("end", [">", "", "x"])
def test_pictures_without_an_address_take_no_longer_than_others(end: str) -> None:
    """A pattern that tried every split of the spaces would take hours."""
    assert "src" not in sanitised_html(f"<img src={' ' * 200_000}{end}")

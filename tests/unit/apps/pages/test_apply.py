# ruff: noqa: E501 - a case is a line
"""Patches on a tree: this page and patch, that page and normalised patch."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outlast.apps.pages.apply import apply_patches
from outlast.apps.pages.shapes import Patch
from outlast.apps.pages.tree import Tree
from tests.page_sequences import sanitised_html, sequence

PAGE = (
    '<h1 id="t">A</h1>one <b id="b">two</b> three<ul id="u"><li id="l">x</li></ul>'
    '<table><tbody id="r"><tr id="r1"><td>1</td></tr></tbody></table><p id="p">p <a id="a" href="#x">l</a></p>'
    '<pre id="pre"><i id="i">i</i>\n\nx</pre><img id="img" alt="i"><svg id="s"><g id="g"></g></svg>'
)


def applied(*patches: Patch) -> tuple[str, tuple[Patch, ...], tuple[str, ...]]:
    tree = Tree(PAGE)
    result = apply_patches(tree, patches)
    return tree.html(), result.patches, result.problems


@pytest.mark.parametrize(
    ("patch", "before", "after"),
    [
        (Patch(op="text", at="#t", text="<B> & \u00a0"), ">A<", ">&lt;B&gt; &amp; &nbsp;<"),
        (Patch(op="text", at="#b", text=""), ">two<", "><"),
        (Patch(op="html", at="#b", html="<i>x"), ">two<", "><i>x</i><"),
        (Patch(op="replace", at="#b", html="x <i>y</i> z"), '<b id="b">two</b>', "x <i>y</i> z"),
        (Patch(op="replace", at="#b", html=""), '<b id="b">two</b>', ""),
        (Patch(op="append", at="#b", html=" x<br>y"), "two", "two x<br>y"),
        (Patch(op="prepend", at="#b", html="x<br>y "), "two", "x<br>y two"),
        (Patch(op="before", at="#b", html="x<br>y"), 'one <b id="b">', 'one x<br>y<b id="b">'),
        (Patch(op="after", at="#b", html="x<br>y"), "</b> three", "</b>x<br>y three"),
        (Patch(op="remove", at="#b"), 'one <b id="b">two</b> three', "one  three"),
        (Patch(op="append", at="#r", html="<tr><td>2"), "</tr></tbody>", "</tr><tr><td>2</td></tr></tbody>"),
        (Patch(op="before", at="#r1", html="<tr><td>0"), '<tr id="r1">', '<tr><td>0</td></tr><tr id="r1">'),
        (Patch(op="append", at="#g", html="<circle r=1 />"), '<g id="g">', '<g id="g"><circle r="1"></circle>'),
        (Patch(op="remove", at="#i"), '<i id="i">i</i>\n\nx', "x"),
        (Patch(op="attributes", at="#a", set={"HREF": "https://a.test"}), 'href="#x"', 'href="https://a.test" target="_blank" rel="noopener noreferrer"'),
        (Patch(op="attributes", at="#a", remove=["href", "none"]), ' href="#x"', ""),
        (Patch(op="classes", at="#b", add=["x", "y"], remove=["z"]), '<b id="b"', '<b id="b" class="x y"'),
    ],
)  # fmt: skip
def test_a_patch_changes_this_and_nothing_else(patch: Patch, before: str, after: str) -> None:
    assert before in PAGE
    html, _, problems = applied(patch)
    assert (html, problems) == (PAGE.replace(before, after, 1), ())


def test_an_element_is_moved_with_all_it_holds_to_each_side_of_another() -> None:
    for place, wanted in (
        ("before", '<b id="b">two</b><ul id="u"><li id="l">x</li></ul>'),
        ("after", '<ul id="u"><li id="l">x</li></ul><b id="b">two</b>'),
    ):
        html, _, problems = applied(Patch(op="move", at="#b", to="#u", place=place))  # type: ignore[arg-type]
        assert (html, problems) == (
            PAGE.replace('<b id="b">two</b>', "", 1).replace('<ul id="u"><li id="l">x</li></ul>', wanted),
            (),
        )
    html, _, _ = applied(Patch(op="move", at="#b", to="#l", place="prepend"))
    assert '<li id="l"><b id="b">two</b>x</li>' in html
    html, _, _ = applied(Patch(op="move", at="#t", to="page", place="append"))
    assert html.endswith('<h1 id="t">A</h1>')


@pytest.mark.parametrize(
    ("patch", "reason"),
    [
        (Patch(op="text", at="#none", text="x"), "no element on the page has the id none"),
        (Patch(op="text", at="#img", text="x"), "an img must be empty"),
        (Patch(op="append", at="#img", html="x"), "an img must be empty"),
        (Patch(op="text", at="#r", text="x"), "a tbody cannot contain text, only tr"),
        (Patch(op="append", at="#r", html="<p>x"), "a tbody cannot contain that"),
        (Patch(op="append", at="#p", html="<div>x"), "a div cannot be inside a p (paragraph)"),
        (Patch(op="append", at="#a", html="<a href=#y>x"), "an a cannot be inside an a"),
        (Patch(op="append", at="#l", html="<li>x"), "without a list between them"),
        (Patch(op="append", at="#t", html="<h2>x"), "an h2 cannot be inside an h1"),
        (Patch(op="before", at="#l", html="<b>x</b><td>y"), ""),
        (Patch(op="move", at="#u", to="#p"), "an ul cannot be inside a p (paragraph)"),
        (Patch(op="move", at="#u", to="#l"), "an element cannot be moved into itself"),
        (Patch(op="move", at="#b", to="#r"), "a tbody may only contain tr, not b"),
        (Patch(op="move", at="#r1", to="page"), "is only allowed directly in tbody or tfoot or thead"),
        (Patch(op="move", at="#g", to="page"), "a g is only allowed in an svg"),
        (Patch(op="move", at="#b", to="#g"), "a b cannot be inside a drawing (svg)"),
        (Patch(op="move", at="#b", to="#img"), "an img must be empty"),
    ],
)  # fmt: skip
def test_a_patch_that_would_be_read_back_otherwise_is_refused_with_its_reason(patch: Patch, reason: str) -> None:
    html, patches, problems = applied(patch)
    if not reason:  # a cell in a list gives its words
        assert problems == ()
        return
    assert (html, patches) == (PAGE, ())
    assert reason in problems[0]


def test_what_a_patch_may_not_set_is_told_and_the_rest_of_it_stands() -> None:
    html, patches, problems = applied(Patch(op="attributes", at="#b", set={"onclick": "x", "title": "t"}))
    assert '<b id="b" title="t">' in html
    assert patches == (Patch(op="attributes", at="#b", set={"title": "t"}),)
    assert 'b does not allow "onclick" with this value' in problems[0]


def test_patches_that_change_nothing_are_not_told() -> None:
    _, patches, problems = applied(
        Patch(op="append", at="#b", html=""),
        Patch(op="attributes", at="#a", set={"href": "#x"}),
        Patch(op="classes", at="#b", remove=["x"]),
    )
    assert (patches, problems) == ((), ())


@settings(deadline=None)
@given(st.integers(0, 2**32))
def test_a_normalised_patch_does_the_same_again_and_what_it_makes_is_kept_as_it_is(seed: int) -> None:
    made = sequence(seed, most=5)
    tree = Tree(made.start)
    for patches, html in made.steps:
        result = apply_patches(tree, patches)
        assert (result.patches, result.refused, tree.html()) == (tuple(patches), 0, html)
        assert sanitised_html(html) == html
        assert Tree(html).html() == html

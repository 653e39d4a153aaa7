"""What an agent's lines say: this line arrives, that must come out."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.apps.pages.line_parser import (
    FullLine,
    Line,
    ModulesLine,
    PatchesLine,
    ProblemLine,
    ProseLine,
    StatsLine,
    SummaryLine,
    read_line,
)
from outlast.apps.pages.shapes import Patch
from outlast.kernel.library.modules import NewModule

TEXT = Patch(op="text", at="#a", text="3")
ONE = PatchesLine((TEXT,))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("", None),
        ("   \n", None),
        ("```", None),
        ("```jsonl", None),
        ("~~~", None),
        ('{"type":"patches","patches":[{"op":"text","at":"#a","text":"3"}]}', ONE),
        ('\ufeff  {"op":"text","at":"#a","text":"3"}  \r\n', ONE),
        ('[{"op":"text","at":"#a","text":"3"}]', ONE),
        ('{"patches":[{"op":"text","at":"#a","text":"3"}]}', ONE),
        ('{"type":"patch","patch":{"op":"text","at":"a","text":3}}', ONE),
        ('`{"op":"text","at":"#a","text":"3"}`', ONE),
        ('```json {"op":"text","at":"#a","text":"3"}```', ONE),
        ('{"type":"full","html":"<p>x","title":"  My \\n page "}', FullLine("<p>x", "My page")),
        ('{"type":"full","html":""}', FullLine("")),
        (
            '{"type":"stats","issues":3,"note":"ok","on":true,"deep":{"a":1}}',
            StatsLine({"issues": 3, "note": "ok", "on": "true"}),
        ),
        ('{"type":"stats","stats":{"issues":3}}', StatsLine({"issues": 3})),
        ('{"type":"summary","text":" a\\n b "}', SummaryLine("a b")),
        (
            '{"type":"code_modules","modules":[{"path":"lib/a.ts","description":"d","exports":["f"],"usage":"u"}]}',
            ModulesLine((NewModule("lib/a.ts", "d", ("f",), "u"),)),
        ),
        ("I made a table.", ProseLine("I made a table.")),
        ("[1] is a footnote", ProseLine("[1] is a footnote")),
        ("{name} is missing", ProseLine("{name} is missing")),
        ("- a list", ProseLine("- a list")),
    ],
)
def test_a_line_says(line: str, expected: Line | None) -> None:
    assert read_line(line) == expected


@pytest.mark.parametrize(
    "line",
    [
        '{"type":"patches","patches":[{"op":"text","at":"#a","text":"3"},]}',
        '{"type":"patches","patches":[{"op":"text","at":"#a","text":"3",},],}',
        '{"type":"patches","patches":[{"op":"text","at":"#a","text":"3"}]',
        '{"type":"patches","patches":[{"op":"text","at":"#a","text":"3"',
        '{"type":"patches","patches":[{"op":"text","at":"#a","text":"3"}]}```',
        '{"type":"patches","patches":[{"op":"text","at":"#a","text":"3"}]},',
        '{"type":"patches","patches":[{"op":"text","at":"#a","text":"3"}]};',
    ],
)
def test_what_is_broken_in_one_certain_way_is_mended(line: str) -> None:
    assert read_line(line) == ONE


def test_raw_line_breaks_and_needless_escapes_in_strings_are_mended() -> None:
    assert read_line('{"type":"full","html":"<p>\ta\'s\\\'s\n</p>"}') == FullLine("<p>\ta's's\n</p>")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"type":"full","html":"<p>cut', "not valid JSON"),
        ('{"type":"full","html":"a"b"}', "not valid JSON"),
        ('{"type":"full"]', "not valid JSON"),
        ('{"type":"full","html":"x"} {"type":"full","html":"y"}', "not valid JSON"),
        ('{"type":"full","html":3}', '"html"'),
        ('{"type":"nonsense"}', "not one of patches, full, stats"),
        ('{"type":["full"]}', "not one of patches"),
        ('{"type":"patches"}', '"patches"'),
        ('{"type":"summary","text":" "}', '"text"'),
        ('{"type":"code_modules"}', '"modules"'),
        ("{" * 30, "none"),
    ],
)
def test_what_cannot_be_taken_is_said_with_the_line_and_the_reason(line: str, reason: str) -> None:
    read = read_line(line)
    if line.startswith("{{"):
        assert read == ProseLine(line)
        return
    assert isinstance(read, ProblemLine)
    assert reason in read.text
    assert line[:40] in read.text


@pytest.mark.parametrize(
    ("patch", "reason"),
    [
        ("3", "not an object"),
        ('{"op":"paint","at":"#a"}', '"op" is not one of'),
        ('{"op":"text","text":"3"}', '"at" must be'),
        ('{"op":"text","at":"div > p","text":"3"}', '"at" must be'),
        ('{"op":"text","at":"page","text":"3"}', "takes html, append and prepend"),
        ('{"op":"text","at":"#a"}', '"text" must be'),
        ('{"op":"append","at":"#a","html":["x"]}', '"html" must be'),
        ('{"op":"text","at":"#a","text":"3","html":"x"}', "has no html"),
        ('{"op":"attributes","at":"#a"}', '"set"'),
        ('{"op":"attributes","at":"#a","set":{"x":[1]}}', "must be texts"),
        ('{"op":"classes","at":"#a"}', '"add"'),
        ('{"op":"move","at":"#a"}', '"to"'),
        ('{"op":"move","at":"#a","to":"#a"}', "to itself"),
        ('{"op":"move","at":"#a","to":"page","place":"before"}', '"page" takes only'),
        ('{"op":"move","at":"#a","to":"#b","place":"beside"}', '"place" is not one of'),
    ],
)
def test_a_patch_that_is_none_is_said_and_the_others_of_its_line_stand(patch: str, reason: str) -> None:
    good = '{"op":"text","at":"#a","text":"3"}'
    read = read_line(f'{{"type":"patches","patches":[{patch},{good}]}}')
    assert isinstance(read, PatchesLine)
    assert read.patches == (TEXT,)
    assert reason in read.problems[0]
    assert read.problems[0].startswith("patch 1 of 2: ")


def test_attributes_take_numbers_and_switches() -> None:
    read = read_line('{"op":"attributes","at":"#a","set":{"value":3,"checked":true,"disabled":false,"title":null}}')
    wanted = Patch(op="attributes", at="#a", set={"value": "3", "checked": ""}, remove=["disabled", "title"])
    assert read == PatchesLine((wanted,))


def test_modules_without_path_or_description_are_said_one_by_one() -> None:
    read = read_line(
        '{"type":"code_modules","modules":[{"path":"a.ts"},{"path":"b.ts","description":"d","exports":"f"},3]}'
    )
    assert isinstance(read, ModulesLine)
    assert [module.exports for module in read.modules] == [("f",)]
    assert read.problems == ('module 1: it has no "description"', "module 3: it is not an object")


def test_a_line_takes_a_bounded_number_of_patches_and_says_so() -> None:
    read = read_line(json.dumps([{"op": "remove", "at": "#a"}] * 600))
    assert isinstance(read, PatchesLine)
    assert (len(read.patches), len(read.problems)) == (500, 1)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(st.text() | json_values.map(json.dumps) | st.text('{}[]",:\\` \n\tab', max_size=30))
def test_no_line_whatever_raises(line: str) -> None:
    read_line(line)


@given(st.text(), st.integers(0, 3))
def test_a_line_that_lost_its_last_brackets_says_what_it_would_have_said(html: str, cut: int) -> None:
    line = json.dumps({"type": "patches", "patches": [{"op": "html", "at": "#a", "html": html}]}, ensure_ascii=False)
    whole, shorter = read_line(line), read_line(line[: len(line) - cut])
    assert whole == shorter

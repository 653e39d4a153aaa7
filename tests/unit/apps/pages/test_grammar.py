"""The explained lines are lines."""

import json

import pytest

from outlast.apps.pages.grammar import LINES, PATCHES
from outlast.apps.pages.line_parser import TYPES as LINE_TYPES
from outlast.apps.pages.line_parser import FullLine, ModulesLine, PatchesLine, StatsLine, SummaryLine, read_line
from outlast.apps.pages.patches import OPS

KINDS = {
    "patches": PatchesLine,
    "full": FullLine,
    "stats": StatsLine,
    "code_modules": ModulesLine,
    "summary": SummaryLine,
}


def test_every_patch_and_every_line_is_explained() -> None:
    assert set(PATCHES) == set(OPS)
    assert set(LINES) == set(LINE_TYPES)


@pytest.mark.parametrize("name", PATCHES)
def test_the_example_of_a_patch_is_one(name: str) -> None:
    read = read_line(PATCHES[name].example)  # type: ignore[index]
    assert isinstance(read, PatchesLine)
    assert read.problems == ()
    assert read.patches[0].op == name


@pytest.mark.parametrize("name", LINES)
def test_the_example_of_a_line_is_one(name: str) -> None:
    assert json.loads(LINES[name].example)["type"] == name
    read = read_line(LINES[name].example)
    assert isinstance(read, KINDS[name])
    assert getattr(read, "problems", ()) == ()

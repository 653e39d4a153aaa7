"""The JSON Schema of a page's lines says what the server takes."""

from __future__ import annotations

import json
import random
from pathlib import Path

import jsonschema_rs
import pytest

from outlast.apps.pages.grammar import LINES, PATCHES
from outlast.apps.pages.line_parser import PatchesLine, ProblemLine, read_line
from outlast.apps.pages.patches import read_patch
from tests.page_sequences import IDS, random_patch

SCHEMA = json.loads((Path(__file__).parents[2] / "contract" / "page-patches.json").read_text(encoding="utf-8"))
LINE = jsonschema_rs.validator_for(SCHEMA)


@pytest.mark.parametrize("name", LINES)
def test_the_example_of_every_line_is_valid(name: str) -> None:
    assert LINE.is_valid(json.loads(LINES[name].example))


@pytest.mark.parametrize("name", PATCHES)
def test_the_example_of_every_patch_is_valid(name: str) -> None:
    patch = json.loads(PATCHES[name].example)  # type: ignore[index]
    assert LINE.is_valid({"type": "patches", "patches": [patch]})


def test_whatever_is_valid_is_taken() -> None:
    rng = random.Random(5)
    valid = 0
    for _ in range(500):
        patch = random_patch(rng, IDS)
        for name in [name for name in patch if rng.random() < 0.03]:
            del patch[name]
        line = {"type": "patches", "patches": [patch]}
        if not LINE.is_valid(line):
            continue
        valid += 1
        if patch["op"] == "move" and (patch["at"] == patch["to"] or patch["to"] == "page"):
            continue  # where an element can be moved to, a schema cannot say
        assert not isinstance(read_patch(patch), str), patch
        read = read_line(json.dumps(line))
        assert isinstance(read, PatchesLine)
        assert read.problems == ()
    assert valid > 300


@pytest.mark.parametrize(
    "line",
    [
        {"type": "patches", "patches": [{"op": "paint", "at": "#a"}]},
        {"type": "patches", "patches": [{"op": "text", "at": "#a"}]},
        {"type": "patches", "patches": [{"op": "text", "at": "div > p", "text": "x"}]},
        {"type": "nonsense"},
        {"type": "full"},
        {"type": "summary"},
        {"type": "code_modules", "modules": [{"path": "a.ts"}]},
    ],
)
def test_what_is_not_taken_is_not_valid(line: dict[str, object]) -> None:
    assert not LINE.is_valid(line)
    read = read_line(json.dumps(line))
    assert isinstance(read, ProblemLine) or read.problems  # type: ignore[union-attr]  # of patches or modules

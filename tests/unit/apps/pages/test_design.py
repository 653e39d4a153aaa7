"""What agents are told of a page's look is in its style sheet."""

import re
from pathlib import Path

from outlast.apps.pages.design import CLASSES, COLOURS

RUNTIME = Path(__file__).parents[4] / "web" / "src" / "page-runtime"
CSS = "".join((RUNTIME / name).read_text(encoding="utf-8") for name in ("page.css", "shapes.css"))


def test_every_class_that_is_told_is_in_the_style_sheet_and_the_other_way_round() -> None:
    styled = set(re.findall(r"\.([a-z][a-z-]*)(?=[\s,.:>{)\[])", re.sub(r"/\*.*?\*/", "", CSS, flags=re.DOTALL)))
    assert set(CLASSES) <= styled
    assert {name for name in styled - set(CLASSES) if not name.startswith("outlast-")} == set()


def test_every_colour_has_a_value_in_light_and_in_dark() -> None:
    blocks = re.findall(r":root(?:\[data-theme='dark'\]|:not\(\[data-theme\]\))? \{(.*?)\n\s*\}", CSS, re.DOTALL)
    assert len(blocks) == 3
    names = [*COLOURS, *(f"--chart-{number}" for number in range(2, 7))]
    assert [name for name in names if f"{name}:" not in blocks[0]] == []
    # What changes in dark changes alike for those who choose it and those whose system does.
    dark = [set(re.findall(r"--[a-z0-9-]+: [^;]+", block)) for block in blocks[1:]]
    assert dark[0] == dark[1]

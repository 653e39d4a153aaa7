"""What a theme's classes need stays in the style sheet, whatever an agent makes of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.apps.screens.css import declarations, read_rules
from outlast.apps.screens.shapes import Theme
from outlast.apps.screens.theme_classes import MAP_BEGIN, MAPPING, dress
from outlast.apps.screens.theme_tokens import shipped_themes
from outlast.apps.screens.themes import STYLE_SHEET, apply_theme
from outlast.kernel.sandboxes.template_files import SOURCES
from tests.unit.apps.screens.test_themes import MANGLED, themes

PIECES = (
    *MANGLED,
    MAP_BEGIN,
    "@theme inline { --color-primary: var(--primary); }\n",
    "/* --color-background: var(--background) */\n",
    "@layer base { body { @apply bg-background; } }\n",
    "@custom-variant dark (&:is(.dark *));\n",
)
sheets = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)


def mapped(css: str) -> dict[str, str]:
    """What Tailwind's theme has."""
    rules = read_rules(css)
    assert rules is not None
    themed = [rule for rule in rules if rule.selector.startswith("@theme")]
    return {name: value for rule in themed for name, value in declarations(rule.body)}


def test_a_rewritten_style_sheet_gets_back_all_that_the_classes_need() -> None:
    """An agent left `@import "tailwindcss"; body { color: red }`: the variables were put back, but not what ties
    classes to them, so the page was white and no semantic class worked, while the screen said `cyberpunk`."""
    css = dress('@import "tailwindcss";\nbody { color: red; }\n', shipped_themes()["cyberpunk"])
    assert mapped(css) == MAPPING
    assert "@custom-variant dark" in css
    assert "@apply bg-background" in css
    assert "body { color: red; }" in css
    assert css.count("@import") == 1


def test_only_what_is_missing_is_put_back() -> None:
    css = '@import "tailwindcss";\n@custom-variant dark (&:is(.dark *));\nbody { background: var(--background); }\n'
    css += "@theme inline { --color-primary: hotpink; }\n"
    dressed = dress(css, shipped_themes()["default"])
    assert mapped(dressed) == {**MAPPING, "--color-primary": "hotpink"}
    assert dressed.count("@custom-variant") == 1
    assert "@layer base" not in dressed


def test_a_lost_import_is_put_back_at_the_beginning() -> None:
    assert dress("body { color: red; }\n", shipped_themes()["default"]).startswith('@import "tailwindcss";\n')
    other = '@import url("tailwindcss");\n'
    assert dress(other, shipped_themes()["default"]).count("tailwindcss") == 1


@pytest.mark.parametrize(
    "theme", [shipped_themes()["default"], shipped_themes()["cyberpunk"]], ids=lambda theme: theme.id
)
def test_the_templates_style_sheet_lacks_nothing(theme: Theme) -> None:
    css = (SOURCES / "shared" / STYLE_SHEET).read_text()
    assert dress(css, theme) == apply_theme(css, theme)


@given(sheets, themes)
def test_dressing_again_changes_nothing(css: str, theme: Theme) -> None:
    once = dress(css, theme)
    assert dress(once, theme) == once


@pytest.mark.parametrize("left_open", ["/* ", "{", "@theme{", "--color-a", MAP_BEGIN, "@import ", "background:"])
@pytest.mark.timeout(20)
def test_what_is_left_open_is_read_a_few_times_and_not_for_each_place(left_open: str) -> None:
    dress((left_open * (190_000 // len(left_open)))[:199_000], shipped_themes()["default"])

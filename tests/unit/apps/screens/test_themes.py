"""Themes: readable in every one, and written into a style sheet without touching the rest."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.apps.screens.css import declarations, read_rules
from outlast.apps.screens.shapes import Theme, ThemeTokens
from outlast.apps.screens.theme_tokens import COLOURS, LOOKS, PAIRS, SHARED, TOKENS, Look, shipped_themes
from outlast.apps.screens.theme_validation import checked_tokens, is_value
from outlast.apps.screens.themes import BEGIN, END, STYLE_SHEET, apply_theme, custom_theme, theme_of
from outlast.base.errors import MalformedInput, UnknownTheme
from outlast.kernel.sandboxes.template_files import SOURCES
from tests.unit.apps.screens.colours import contrast

every_look = pytest.mark.parametrize(
    ("theme", "look"),
    [(theme, look) for theme in shipped_themes().values() for look in LOOKS],
    ids=lambda value: value.id if isinstance(value, Theme) else value,
)
themes = st.sampled_from(sorted(shipped_themes())).map(shipped_themes().__getitem__)
MANGLED = (
    BEGIN,
    END,
    ":root {\n  --primary: pink;\n  --mine: 1px;\n}\n",
    ".dark { --primary: red }",
    ".card { color: var(--card); }\n",
    "@media (width > 1px) { :root { --primary: blue; } }\n",
    '@import "tailwindcss";\n',
    "/* note { */\n",
    "/* open",
    '.a::before { content: "}" }\n',
    "}",
    "{",
    "\n\n",
)
sheets = st.lists(st.sampled_from(MANGLED), max_size=8).map("".join)


def test_there_are_the_named_ones_and_more():
    assert {"default", "claude", "vercel", "cyberpunk"} < set(shipped_themes())
    assert len(shipped_themes()) >= 10
    assert all(theme.name and theme.description.endswith(".") for theme in shipped_themes().values())


@every_look
def test_every_token_has_a_value_of_its_kind(theme: Theme, look: Look):
    tokens = getattr(theme, look)
    assert set(tokens) == set(TOKENS)
    assert all(is_value("colour", tokens[name]) for name in COLOURS)
    assert is_value("length", tokens["radius"])
    assert is_value("fonts", tokens["font-sans"])
    assert is_value("fonts", tokens["font-mono"])
    assert all(theme.light[name] == theme.dark[name] for name in SHARED)


@every_look
def test_text_is_readable_on_every_ground(theme: Theme, look: Look):
    tokens = getattr(theme, look)
    pairs = [("foreground", "background")] + [(f"{ground}-foreground", ground) for ground in PAIRS[1:]]
    for ground in ("background", "card", "popover", "muted"):
        pairs += [("foreground", ground), ("muted-foreground", ground)]
    for ground in ("background", "card"):
        pairs += [("primary", ground), ("destructive", ground)]
    low = {(text, ground): contrast(tokens[text], tokens[ground]) for text, ground in pairs}
    assert {pair: ratio for pair, ratio in low.items() if ratio < 4.5} == {}


@every_look
def test_charts_and_the_focus_ring_stand_out(theme: Theme, look: Look):
    tokens = getattr(theme, look)
    marks = ["ring", *(name for name in COLOURS if name.startswith("chart-"))]
    pairs = [(mark, ground) for mark in marks for ground in ("background", "card")]
    low = {pair: contrast(tokens[pair[0]], tokens[pair[1]]) for pair in pairs}
    assert {pair: ratio for pair, ratio in low.items() if ratio < 3} == {}
    assert len({tokens[mark] for mark in marks[1:]}) == 5


def test_light_is_lighter_than_dark():
    for theme in shipped_themes().values():
        assert contrast(theme.light["background"], "oklch(0 0 0)") > 15
        assert contrast(theme.dark["background"], "oklch(1 0 0)") > 12


@given(sheets, themes)
def test_applying_a_theme_again_changes_nothing(css: str, theme: Theme):
    once = apply_theme(css, theme)
    assert apply_theme(once, theme) == once


@given(sheets, themes, themes)
def test_the_last_theme_wins_and_nothing_is_left_of_the_one_before(css: str, one: Theme, other: Theme):
    assert apply_theme(apply_theme(css, one), other) == apply_theme(css, other)


@given(sheets, themes)
def test_the_block_has_both_marks_and_says_every_token(css: str, theme: Theme):
    block = block_of(apply_theme(css, theme))
    rules = {rule.selector: dict(declarations(rule.body)) for rule in read_rules(block) or []}
    assert {name: rules[":root"][f"--{name}"] for name in TOKENS} == {
        name: " ".join(theme.light[name].split()) for name in TOKENS
    }
    assert {name: rules[".dark"][f"--{name}"] for name in COLOURS} == {name: theme.dark[name] for name in COLOURS}


@given(
    st.lists(st.sampled_from([part for part in MANGLED if part not in (BEGIN, END)]), max_size=6).map("".join),
    st.lists(st.sampled_from([part for part in MANGLED if part not in (BEGIN, END)]), max_size=6).map("".join),
    themes,
    themes,
)
def test_nothing_outside_the_block_changes(before: str, after: str, old: Theme, new: Theme):
    block = apply_theme("", old).rstrip("\n")
    themed = apply_theme(before + block + after, new)
    assert themed.startswith(before)
    assert themed.endswith(after)
    assert themed == before + apply_theme("", new).rstrip("\n") + after


@given(sheets.filter(lambda css: BEGIN not in css), themes)
def test_without_a_block_one_is_added_at_the_end(css: str, theme: Theme):
    themed = apply_theme(css, theme)
    assert themed.startswith(css)
    assert themed[len(css) :].lstrip("\n").startswith(BEGIN)


def test_the_templates_style_sheet_has_the_default_theme():
    css = (SOURCES / "shared" / STYLE_SHEET).read_text()
    assert apply_theme(css, shipped_themes()["default"]) == css


def test_what_an_agent_has_put_into_the_block_beside_the_tokens_stays():
    css = apply_theme("", shipped_themes()["default"])
    css = css.replace(":root {", ":root {\n  --brand: oklch(0.7 0.1 20);\n  --primary: hotpink;")
    css = css.replace(END, f"@layer base {{ body {{ color: red; }} }}\n{END}")
    themed = apply_theme(css, shipped_themes()["rose"])
    assert "--brand: oklch(0.7 0.1 20);" in themed
    assert "@layer base { body { color: red; } }" in themed
    assert "hotpink" not in themed


def test_a_block_that_lost_its_end_ends_after_its_own_rules():
    """An agent rewrote the lines below the tokens and took the closing mark away; its own rules must stay."""
    css = apply_theme("", shipped_themes()["default"]).replace(END, "") + ".mine { color: red; }\n"
    themed = apply_theme(css, shipped_themes()["ocean"])
    assert themed.count(END) == 1
    assert themed.count(":root {") == 1
    assert themed.index(END) < themed.index(".mine { color: red; }")


def test_a_second_block_does_not_win_over_the_first():
    css = (
        apply_theme("", shipped_themes()["default"])
        + ".a { color: red; }\n"
        + apply_theme("", shipped_themes()["rose"])
    )
    themed = apply_theme(css, shipped_themes()["solar"])
    assert themed.count(BEGIN) == themed.count(END) == 1
    assert ".a { color: red; }" in themed


def test_a_custom_theme_fills_what_is_not_said_from_the_default():
    tokens = ThemeTokens(light={"primary": "#123456", "radius": "2px"}, dark={"primary": "white"})
    theme = custom_theme(checked_tokens(tokens))
    assert (theme.light["primary"], theme.dark["primary"]) == ("#123456", "white")
    assert theme.light["radius"] == theme.dark["radius"] == "2px"
    assert theme.light["card"] == shipped_themes()["default"].light["card"]
    assert theme_of("custom", tokens) == theme


def test_an_unknown_theme_is_refused_with_the_known_ones():
    for theme_id in ("nope", "custom", ""):
        with pytest.raises(UnknownTheme) as refused:
            theme_of(theme_id)
        assert "cyberpunk" in refused.value.hint


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("primary", "#3b82f6"),
        ("primary", "#FFF"),
        ("primary", "oklch(0.62 0.19 260)"),
        ("primary", "oklch(62% 0.19 260deg / 50%)"),
        ("primary", "rgb(1, 2, 3)"),
        ("primary", "hsl(210 40% 98% / .5)"),
        ("primary", "RebeccaPurple"),
        ("radius", "0"),
        ("radius", ".5rem"),
        ("font-sans", 'Inter, "Segoe UI", sans-serif'),
        ("font-mono", "ui-monospace"),
    ],
)
def test_values_that_a_theme_may_have(name: str, value: str):
    assert checked_tokens(ThemeTokens(light={name: value}, dark={})).light[name] == value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("primary", "red; color: blue"),
        ("primary", "red } body { display: none"),
        ("primary", "url(https://evil.example/a.png)"),
        ("primary", "var(--x)"),
        ("primary", "expression(alert(1))"),
        ("primary", "inherit"),
        ("primary", "#12345"),
        ("primary", "rgb(1,2)"),
        ("primary", ""),
        ("primary", "/* */ red"),
        ("radius", "red"),
        ("radius", "calc(1px + 1px)"),
        ("radius", "-1px"),
        ("font-sans", "a; b"),
        ("font-sans", 'Inter, "a\\"b"'),
        ("font-sans", "url(x)"),
        ("font-sans", "x" * 500),
        ("nonsense", "red"),
        ("--primary", "red"),
    ],
)
def test_values_that_lead_elsewhere_are_refused_by_name(name: str, value: str):
    for look in LOOKS:
        tokens = ThemeTokens(**{"light": {}, "dark": {}, look: {name: value}})
        with pytest.raises(MalformedInput) as refused:
            checked_tokens(tokens)
        assert refused.value.fields["field"] == f"theme_tokens.{look}.{name}"


@given(st.text(max_size=40), st.sampled_from(["primary", "radius", "font-sans"]))
def test_whatever_is_accepted_stays_in_its_declaration(value: str, name: str):
    try:
        tokens = checked_tokens(ThemeTokens(light={name: value}, dark={}))
    except MalformedInput:
        return
    assert not re.search(r"[;{}\\\n]|url\(|/\*", tokens.light[name])
    assert apply_theme("", custom_theme(tokens)).count("}") == 2


@pytest.mark.parametrize(
    "css", [BEGIN * 9, "/* " * 70_000, f"{BEGIN}{'{' * 300_000}"], ids=["blocks", "comments", "braces"]
)
def test_a_style_sheet_that_nobody_wrote_for_people_is_refused(css: str):
    with pytest.raises(MalformedInput):
        apply_theme(css, shipped_themes()["default"])


@pytest.mark.parametrize("left_open", ["/* ", '"\\', "'a\n", "{", ":root{", "--a:(;", "\"a'b"])
@pytest.mark.timeout(20)
def test_what_is_left_open_is_read_once_and_not_again_for_each_place(left_open: str):
    """A sandbox may write anything into its style sheet; reading it must not keep the server busy."""
    css = (BEGIN + left_open * (190_000 // len(left_open)))[:200_000]
    assert BEGIN in apply_theme(css, shipped_themes()["default"])


def block_of(css: str) -> str:
    return css[css.index(BEGIN) + len(BEGIN) : css.index(END, css.index(BEGIN))]

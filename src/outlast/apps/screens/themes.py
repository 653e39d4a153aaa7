"""Themes: named looks of an app, and their CSS in its style sheet. Pure.

A style sheet has one block between two marks, with the tokens of the light look under `:root` and of the dark one
under `.dark`; everything else in it belongs to the app. The block can always be rewritten, even after an agent or a
person has changed the file.
"""

from collections.abc import Mapping
from typing import Any, Final

from outlast.apps.screens.css import declarations, read_rules, rules_from
from outlast.apps.screens.shapes import Theme, ThemeTokens
from outlast.apps.screens.theme_tokens import COLOURS, SHARED, TOKENS, Look, shipped_themes
from outlast.base.errors import MalformedInput, UnknownTheme

STYLE_SHEET: Final = "app/globals.css"
BEGIN: Final = "/* outlast:theme begin */"
END: Final = "/* outlast:theme end */"
CUSTOM: Final = "custom"
DEFAULT: Final = "default"
MAX_CHARS: Final = 200_000  # of a style sheet; code in a sandbox may write anything there
MAX_BLOCKS: Final = 8

_SELECTORS: Final[Mapping[str, Look]] = {":root": "light", ".dark": "dark"}


def custom_theme(tokens: ThemeTokens) -> Theme:
    """The theme of these tokens; missing ones come from the default theme."""
    base = shipped_themes()[DEFAULT]
    light = {**base.light, **tokens.light}
    shared = {name: light[name] for name in SHARED}
    dark = {**base.dark, **tokens.dark, **shared}
    return Theme(id=CUSTOM, name="Custom", description="Your own colours.", light=light, dark=dark)


def theme_of(theme: str, theme_tokens: ThemeTokens | Mapping[str, Any] | None = None) -> Theme:
    """The theme of a screen, from its row. Raises `UnknownTheme`."""
    if theme == CUSTOM and theme_tokens is not None:
        return custom_theme(ThemeTokens.model_validate(theme_tokens))
    found = shipped_themes().get(theme)
    if found is None:
        known = ", ".join(shipped_themes())
        raise UnknownTheme(
            f"There is no theme {theme[:40]!r}.",
            hint=f"There are: {known}; or custom, with theme_tokens.",
            field="theme",
        )
    return found


def apply_theme(css: str, theme: Theme) -> str:
    """The style sheet with the theme in its block; nothing else changes, and applying it again changes nothing.

    Without a block, one is added at the end, where it overrides earlier rules. Additions of an agent to the block (its
    own variables, further rules) stay in it. A block that has lost its end mark ends after the rules that are its own;
    of several blocks the first is kept, since the last would win. Raises `MalformedInput` for more than 200,000
    characters or eight blocks, which no honest author writes.
    """
    if len(css) > MAX_CHARS or css.count(BEGIN) > MAX_BLOCKS:
        raise MalformedInput(
            f"{STYLE_SHEET} is too long for a theme, or has too many theme blocks.",
            hint=f"Keep it below {MAX_CHARS:,} characters, with one block between the theme's marks.",
            field="theme",
        )
    start = css.find(BEGIN)
    if start < 0:
        gap = "" if not css or css.endswith("\n") else "\n"
        return f"{css}{gap}{_block(theme)}\n"
    end, inside = _extent(css, start)
    rest = _without_blocks(css[end:])
    return css[:start] + _block(theme, inside) + rest


def _extent(css: str, start: int) -> tuple[int, str]:
    """The end of the block that begins at `start`, and its content."""
    inner = start + len(BEGIN)
    end, again = css.find(END, inner), css.find(BEGIN, inner)
    if end >= 0 and not 0 <= again < end:
        return end + len(END), css[inner:end]
    stop = rules_from(css, inner, _SELECTORS)
    return stop, css[inner:stop]


def _without_blocks(css: str) -> str:
    """The style sheet without further blocks that have both marks."""
    while (start := css.find(BEGIN)) >= 0:
        end, _ = _extent(css, start)
        css = css[:start] + css[end:].removeprefix("\n")
    return css


def _block(theme: Theme, inside: str = "") -> str:
    own: dict[Look, dict[str, str]] = {"light": {}, "dark": {}}
    others: list[str] = []
    for rule in read_rules(inside) or ():
        look = _SELECTORS.get(rule.selector)
        if look is None:
            others.append(rule.text)
            continue
        for name, value in declarations(rule.body):
            if name.removeprefix("--") not in TOKENS:
                own[look][name] = value
    lines = [BEGIN, ":root {", *_lines(theme.light, TOKENS, own["light"]), "}", ""]
    lines += [".dark {", *_lines(theme.dark, COLOURS, own["dark"]), "}"]
    for text in others:
        lines += ["", text]
    return "\n".join([*lines, END])


def _lines(tokens: Mapping[str, str], names: tuple[str, ...], own: Mapping[str, str]) -> list[str]:
    known = [f"  --{name}: {tokens[name]};" for name in names]
    return known + [f"  {name}: {value};" for name, value in own.items()]

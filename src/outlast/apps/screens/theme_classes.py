"""The mapping of a theme's tokens to Tailwind's classes, restored if a style sheet has lost it. Pure.

The theme's block (`themes.py`) sets `--background`; the mapping of `bg-background` to it is in the app's own part
of the style sheet, which an agent may rewrite. Missing parts go into a separate block at the end.
"""

import re
from collections.abc import Iterator
from typing import Final

from outlast.apps.screens.css import COMMENT, declarations, read_rules
from outlast.apps.screens.shapes import Theme
from outlast.apps.screens.theme_tokens import COLOURS
from outlast.apps.screens.themes import apply_theme

MAP_BEGIN: Final = "/* outlast:theme-mapping begin */"
MAP_END: Final = "/* outlast:theme-mapping end */"
_RADII: Final = {
    "sm": "calc(var(--radius) * 0.6)",
    "md": "calc(var(--radius) * 0.8)",
    "lg": "var(--radius)",
    "xl": "calc(var(--radius) * 1.4)",
}
MAPPING: Final = {
    **{f"--color-{name}": f"var(--{name})" for name in COLOURS},
    **{f"--radius-{size}": value for size, value in _RADII.items()},
    "--font-sans": "var(--font-sans)",
    "--font-mono": "var(--font-mono)",
}
_IMPORT: Final = '@import "tailwindcss";'
_DARK: Final = "@custom-variant dark (&:is(.dark *));"
_BASE: Final = """@layer base {
  * {
    @apply border-border outline-ring/50;
  }
  body {
    @apply bg-background font-sans text-foreground;
  }
}"""
_IMPORTS: Final = re.compile(r"""@import\s{0,20}(?:url\(\s{0,20})?["']tailwindcss|@tailwind\b""")
_DARKENS: Final = re.compile(r"@custom-variant\s{1,20}dark\b")
_DRESSES: Final = re.compile(
    r"\bbg-background\b|(?<![\w-])background(?:-color)?\s{0,20}:\s{0,20}var\(--(?:color-)?background\)"
)
_DECLARES: Final = re.compile(r"(--(?:color|radius|font)-[\w-]{1,60})\s{0,20}:")


def dress(css: str, theme: Theme) -> str:
    """The style sheet with the theme in its block and everything that its classes need; applying it again changes
    nothing. Raises `MalformedInput` as `apply_theme` does, so at most 200,000 characters are read, each a few times."""
    return _mapped(apply_theme(css, theme))


def _mapped(css: str) -> str:
    css = _without_mapping(css)
    plain = COMMENT.sub(" ", css)
    declared = set(_declared(css, plain))
    missing = [f"  {name}: {value};" for name, value in MAPPING.items() if name not in declared]
    blocks = [
        *([] if _DARKENS.search(plain) else [_DARK]),
        *(["\n".join(["@theme inline {", *missing, "}"])] if missing else []),
        *([] if _DRESSES.search(plain) else [_BASE]),
    ]
    if not _IMPORTS.search(plain):
        css = f"{_IMPORT}\n{css}"
    if not blocks:
        return css
    gap = "" if css.endswith("\n") else "\n"
    return "\n".join([f"{css}{gap}{MAP_BEGIN}", *blocks, MAP_END, ""])


def _without_mapping(css: str) -> str:
    end = css.rfind(MAP_END)
    start = css.rfind(MAP_BEGIN, 0, max(end, 0))
    if start < 0 or end < 0:
        return css
    return css[:start] + css[end + len(MAP_END) :].removeprefix("\n")


def _declared(css: str, plain: str) -> Iterator[str]:
    """The names that Tailwind's theme has; if a brace is missing, every name that appears anywhere."""
    rules = read_rules(css)
    if rules is None:
        yield from _DECLARES.findall(plain)
        return
    for rule in rules:
        if rule.selector.startswith("@theme"):
            yield from (name for name, _ in declarations(rule.body))

"""Changes to the current code of a page, so that edits made by hand are kept. Pure. Each function returns None if the
page's layout does not allow the change."""

import re
from typing import Final

_IMPORT_END: Final = re.compile(r"^(?:import\b[^\n]*|\} )from \"[^\"]+\";\n|^import \"[^\"]+\";\n", re.MULTILINE)
_LAST: Final = re.compile(r"^([ \t]*)<SiteFooter\b|^([ \t]*)</main>", re.MULTILINE)
_ROOT: Final = re.compile(r"return \(\s*<[a-z]\w*[^>]*?className=\"([^\"]*)\"")
_TINTED: Final = re.compile(r"\[--(?:primary|primary-foreground|ring|card|muted|accent|border):[^\]]*\]")
_SPACED: Final = re.compile(r"\[--spacing:[^\]]*\]")
_GROUND: Final = re.compile(r"bg-(?:background|\[color-mix\(in_oklab,var\(--background\)[^\]]*\])(?=\s|$)")


def add_section(page: str, component: str, path: str) -> str | None:
    """The page with `<Component />` before its footer, or at the end of its `<main>`, imported from `path`."""
    imports = list(_IMPORT_END.finditer(page))
    places = list(_LAST.finditer(page))
    if not imports or not places:
        return None
    place = next((match for match in places if match[1] is not None), places[-1])
    indent = place[1] if place[1] is not None else f"{place[2]}  "
    end = imports[-1].end()
    line = f'import {{ {component} }} from "@/{path}";\n'
    between = page[end : place.start()]
    return f"{page[:end]}{line}{between}{indent}<{component} />\n{page[place.start() :]}"


def tint(page: str, token: str) -> str | None:
    """The page in another colour of the theme: its root element overrides the tokens that its content uses. They are
    mixed from the theme's tokens, so they follow a change of the theme."""
    root = _ROOT.search(page)
    if root is None:
        return None
    classes = _TINTED.sub("", root[1])
    classes = _GROUND.sub(f"bg-[{_mixed(token, 96)}]", classes)
    tokens = [
        f"[--primary:var(--{token})]",
        "[--primary-foreground:oklch(0.2_0.03_60)]",
        f"[--ring:var(--{token})]",
        *(f"[--{name}:{_mixed(token, share)}]" for name, share in _SHARES),
    ]
    return page[: root.start(1)] + " ".join([*classes.split(), *tokens]) + page[root.end(1) :]


def space(page: str, spacing: str) -> str | None:
    """The page with less or more space everywhere: its root element overrides Tailwind's unit of spacing."""
    root = _ROOT.search(page)
    if root is None:
        return None
    classes = _SPACED.sub("", root[1]).split()
    return page[: root.start(1)] + " ".join([*classes, f"[--spacing:{spacing}]"]) + page[root.end(1) :]


_SHARES: Final = (("card", 93), ("muted", 88), ("accent", 84), ("border", 80))


def _mixed(token: str, share: int) -> str:
    return f"color-mix(in_oklab,var(--background)_{share}%,var(--{token}))"

"""The allowed attributes of elements, SVG included (`allowed/attributes.toml`), and their values. Pure."""

import re
import tomllib
from collections.abc import Iterable
from typing import Any, Final

from outlast.apps.pages.allowed_elements import DRAWN
from outlast.apps.pages.allowed_styles import kept_style
from outlast.apps.pages.user_action_rules import NAME as ACTION_NAME
from outlast.base.data_files import read_names, read_text

MAX_ATTRIBUTES: Final = 80  # attributes of one element
MAX_CHARS: Final = 16_000  # of one value, except pictures
MAX_PICTURE_CHARS: Final = 700_000
GLOBAL: Final = frozenset({"id", "class", "title", "lang", "dir", "role", "hidden", "tabindex", "style", "popover"})
SVG_ATTRIBUTES: Final = read_names(__file__, "allowed/svg_attributes")
BOOLEAN: Final = frozenset(
    {"hidden", "disabled", "checked", "selected", "open", "multiple", "required", "readonly", "novalidate", "reversed"}
)
_ALLOWED: Final[dict[str, Any]] = tomllib.loads(read_text(__file__, "allowed/attributes.toml"))
OF_TAG: Final[dict[str, frozenset[str]]] = {tag: frozenset(names) for tag, names in _ALLOWED["of_tag"].items()}
WORDS_OF: Final[dict[str, dict[str, list[str]]]] = _ALLOWED["words"]

# Links go to the web, or to one of the others. `safeLink` of the page's own script (web/src/page-runtime) agrees.
WEB_SCHEMES: Final = frozenset({"http", "https"})
OTHER_SCHEMES: Final = frozenset({"mailto"})

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,63}")
_LOOSE: Final = re.compile(r"(?:data|aria)-[a-z][a-z0-9-]{0,63}")
_ID: Final = re.compile(r"[A-Za-z_][\w.:-]{0,127}", re.ASCII)
_PATTERNS: Final = {
    "id": _ID,
    "lang": re.compile(r"[A-Za-z0-9-]{0,35}"),
    "name": re.compile(r"[A-Za-z][\w.:\[\]-]{0,127}", re.ASCII),
}
_IDS: Final = frozenset({"for", "form", "list", "headers", "popovertarget", "commandfor"})
_PICTURE: Final = re.compile(r"data:image/(?:png|jpeg|gif|webp|avif);base64,[A-Za-z0-9+/]*={0,2}")
_SCHEMES: Final = "|".join([*(f"{name}://" for name in sorted(WEB_SCHEMES)), *(f"{name}:" for name in OTHER_SCHEMES)])
_LINK: Final = re.compile(rf"(?:{_SCHEMES})[^\s\\]+", re.IGNORECASE)
_FRAGMENT: Final = re.compile(r"#[^\s\\]*")
_URL_REFERENCE: Final = re.compile(r"url\(#[A-Za-z_][\w.-]*\)", re.ASCII)
_NUMBERS: Final = frozenset({"colspan", "rowspan", "span", "rows", "cols", "size", "minlength", "maxlength"})
_NUMBER: Final = re.compile(r"[0-9]{1,4}")
_LENGTHS: Final = frozenset({("img", "width"), ("img", "height")})
_LENGTH: Final = re.compile(r"[0-9]{1,5}(?:\.[0-9]+)?%?")
_CONTROLS: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


def plain(text: str) -> str:
    """The text as a browser's tree and ours can both store it: without control characters, line breaks as `\\n`."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROLS.sub("", text.replace("\f", " "))


def kept_attributes(tag: str, given: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The allowed names and values of an element, in order. A link out of the page opens in a new window
    without a reference to the page."""
    kept: dict[str, str] = {}
    for name, value in given:
        if len(kept) >= MAX_ATTRIBUTES or _NAME.fullmatch(name) is None or (tag == "a" and name in ("target", "rel")):
            continue
        good = kept_value(tag, name, plain(value))
        if good is not None:
            kept[name] = good
    if tag == "a" and not kept.get("href", "#").startswith("#"):
        kept |= {"target": "_blank", "rel": "noopener noreferrer"}
    return kept


def kept_value(tag: str, name: str, value: str) -> str | None:
    """The value in canonical form; None if the element may not have this attribute, or not with this value."""
    if name.startswith(("data-", "aria-")):
        return _loose(name, value)
    in_svg = tag in DRAWN
    if name not in GLOBAL and name not in OF_TAG.get(tag, ()) and not (in_svg and name in SVG_ATTRIBUTES):
        return value if tag == "use" and name == "href" and _ID.fullmatch(value[1:]) and value[0] == "#" else None
    if name in BOOLEAN:
        return ""
    words = WORDS_OF.get(tag, {}).get(name) or WORDS_OF["*"].get(name)
    if words is not None:
        value = value.strip() if tag == "ol" else value.strip().lower()
        return value if value in words else None
    if name in _PATTERNS:
        return value if _PATTERNS[name].fullmatch(value) else None
    match name:
        case "class":
            return " ".join(one for one in value.split() if not one.startswith("outlast-"))[:MAX_CHARS] or None
        case "style":
            return kept_style(value) or None
        case "src":
            return _picture(value)
        case "href":
            return _link(value)
    return _other(tag, name, value, in_svg=in_svg)


def _other(tag: str, name: str, value: str, *, in_svg: bool) -> str | None:
    if name in _NUMBERS:
        return value.strip() if _NUMBER.fullmatch(value.strip()) else None
    if (tag, name) in _LENGTHS:
        return value.strip() if _LENGTH.fullmatch(value.strip()) else None
    if name in _IDS:
        ids = value.split()
        return " ".join(ids) if ids and all(_ID.fullmatch(one) for one in ids) else None
    if len(value) > (MAX_CHARS * 8 if in_svg else MAX_CHARS):  # a chart's path may be long
        return None
    return _drawn(value) if in_svg and name not in GLOBAL else value


def _loose(name: str, value: str) -> str | None:
    """`data-*` and `aria-*`: any text, except names that the page's own script uses; `data-action` is an action's
    name."""
    if len(value) > MAX_CHARS or _LOOSE.fullmatch(name) is None or name.startswith("data-outlast"):
        return None
    if name == "data-action":
        value = value.strip()
        return value if ACTION_NAME.fullmatch(value) else None
    return value


def _drawn(value: str) -> str | None:
    """A value of SVG: it may refer to SVG elements of the page, and to nothing else."""
    lowered = value.lower()
    if "url" not in lowered and "\\" not in value and "javascript" not in lowered:
        return value
    return value if _URL_REFERENCE.fullmatch(value.strip()) else None


def _picture(value: str) -> str | None:
    if len(value) > MAX_PICTURE_CHARS:
        return None
    value = "".join(value.split())
    return value if _PICTURE.fullmatch(value) else None


def _link(value: str) -> str | None:
    value = value.strip()
    if len(value) > 4000:
        return None
    return value if _FRAGMENT.fullmatch(value) or _LINK.fullmatch(value) else None

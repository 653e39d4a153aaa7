"""Style attributes: the allowed declarations, in canonical form. Pure."""

import re
from itertools import accumulate
from typing import Final

from outlast.base.data_files import read_names

STYLE_PROPERTIES: Final = read_names(__file__, "allowed/style_properties")
STYLE_FUNCTIONS: Final = read_names(__file__, "allowed/style_functions")
MAX_CHARS: Final = 4000
# Split at semicolons outside of strings; an unclosed string takes the rest.
_DECLARATION: Final = re.compile(r"""(?:[^;"']++|"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z))++""")
_STRING: Final = re.compile(r""""[^"]*+"|'[^']*+'""")
_NAME: Final = re.compile(r"--[a-z][a-z0-9-]{0,63}|[a-z]+(?:-[a-z]+)*")
# No escapes, comments, blocks, markup or at-rules: they could make a value mean something else than it seems.
_VALUE: Final = re.compile(r"[^\\{}<>@;`\x00-\x1f\x7f]*")
_FUNCTION: Final = re.compile(r"([^\s(,/*+:'\"]*)\(")


def kept_style(style: str) -> str:
    """The allowed declarations of a style attribute, as `name: value; name: value`; empty if there are none. Each
    declaration that could load something or mean something unforeseen is left out."""
    if len(style) > MAX_CHARS:
        return ""
    found = (_declaration(one) for one in _DECLARATION.findall(style))
    return "; ".join(one for one in found if one)


def _declaration(text: str) -> str:
    name, _, value = text.partition(":")
    name, value = name.strip().lower(), " ".join(value.split())
    if not value or _NAME.fullmatch(name) is None:
        return ""
    if name not in STYLE_PROPERTIES and not name.startswith("--"):
        return ""
    if _VALUE.fullmatch(value) is None or "/*" in value or "*/" in value or not _balanced(value):
        return ""
    if any(word and word.lower() not in STYLE_FUNCTIONS for word in _FUNCTION.findall(value)):
        return ""
    if name == "position" and value.lower().startswith("fixed"):
        return ""
    return f"{name}: {value}"


def _balanced(value: str) -> bool:
    """True if every quote and bracket of a value is closed, so that it ends where it seems to."""
    bare = _STRING.sub("", value)
    depths = list(accumulate(((sign in "([") - (sign in ")]") for sign in bare), initial=0))
    return not {'"', "'"}.intersection(bare) and min(depths) == depths[-1] == 0

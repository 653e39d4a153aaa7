"""Strings in JSX and JavaScript: parse them, and write them so that they parse back to the same value."""

import re
from html.entities import name2codepoint
from typing import TYPE_CHECKING, Final

from outlast.apps.screens.edits.syntax import Parsed
from outlast.base.records import dataclass

if TYPE_CHECKING:
    from tree_sitter import Node

_ENTITY: Final = re.compile(r"&(#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]*);")
_ESCAPE: Final = re.compile(r"\\(u\{[0-9a-fA-F]{1,6}\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|\r\n|[\s\S])", re.DOTALL)
_SHORT: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
_CONTINUED: Final = ("\n", "\r", "\r\n", "\u2028", "\u2029")
_NAMES: Final = {**name2codepoint, "apos": 39}
_IN_TEXT: Final = str.maketrans({"{": "&#123;", "}": "&#125;", "<": "&lt;", ">": "&gt;"})
_IN_QUOTES: Final = str.maketrans({"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\u2028": "\\u2028", "\u2029": "\\u2029"})


@dataclass(frozen=True, slots=True)
class Splice:
    """Bytes `start` to `end` of a file become `new`."""

    start: int
    end: int
    new: bytes


def is_literal(node: "Node") -> bool:
    """True if it is a constant string: quoted, or a template without substitutions."""
    if node.type == "string":
        return True
    plain = ("string_fragment", "escape_sequence")
    return node.type == "template_string" and all(child.type in plain for child in node.named_children)


def read(parsed: Parsed, node: "Node") -> str:
    """The value of a literal."""
    inner = parsed.text(node)[1:-1]
    return decode_entities(inner) if _is_attribute(node) else _ESCAPE.sub(lambda found: _escaped(found[1]), inner)


def write(parsed: Parsed, node: "Node", value: str) -> Splice:
    """The literal with another value; its quotes change only if the value contains them."""
    quote = parsed.text(node)[0]
    new = _attribute(value, quote) if _is_attribute(node) else _quoted(value, quote)
    return Splice(node.start_byte, node.end_byte, new.encode())


def attribute_source(name: str, value: str) -> bytes:
    """Another attribute, with the space before it."""
    return f" {name}={_attribute(value, chr(34))}".encode()


def encode_text(value: str) -> str:
    """Text between tags."""
    return _ENTITY.sub(r"&amp;\1;", value).translate(_IN_TEXT)


def decode_entities(text: str) -> str:
    """Text between tags or in an attribute, with its entities decoded. Time grows with the length of its file."""
    return _ENTITY.sub(lambda found: _character(found[1], found[0]), text)


def _is_attribute(node: "Node") -> bool:
    return node.type == "string" and node.parent is not None and node.parent.type == "jsx_attribute"


def _character(name: str, otherwise: str) -> str:
    if not name.startswith("#"):
        code = _NAMES.get(name)
        return otherwise if code is None else chr(code)
    digits, base = (name[2:], 16) if name[1] in "xX" else (name[1:], 10)
    code = int(digits, base)
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else otherwise


def _attribute(value: str, quote: str) -> str:
    """JSX has no escapes in attributes, only entities."""
    kept = _ENTITY.sub(r"&amp;\1;", value)
    if quote not in kept:
        return f"{quote}{kept}{quote}"
    other = "'" if quote == '"' else '"'
    if other not in kept:
        return f"{other}{kept}{other}"
    return f'"{kept.replace(chr(34), "&quot;")}"'


def _quoted(value: str, quote: str) -> str:
    if quote in value:
        quote = next((one for one in "\"'" if one not in value), quote)
    text = value.translate(_IN_QUOTES).replace(quote, f"\\{quote}")
    if quote == "`":
        text = text.replace("${", "\\${")
    return f"{quote}{text}{quote}"


def _escaped(code: str) -> str:
    if code in _CONTINUED:
        return ""
    if code[0] in "ux" and len(code) > 1:
        number = int(code[1:].strip("{}"), 16)
        return chr(number) if number < 0x110000 else "\ufffd"
    return _SHORT.get(code, code)

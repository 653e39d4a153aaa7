"""The place of an element's classes, text and attributes in the source, or why they cannot be edited there."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from outlast.apps.screens.edits import literals
from outlast.apps.screens.edits.literals import Splice
from outlast.apps.screens.edits.shapes import EditRequest
from outlast.apps.screens.edits.syntax import Element, Parsed, unwrapped, value_of
from outlast.base.records import dataclass

if TYPE_CHECKING:
    from tree_sitter import Node

JOINERS: Final = frozenset({"cn", "clsx", "cx", "twMerge", "twJoin", "classNames", "classnames"})
PICTURES: Final = frozenset({"img", "Image"})
ATTRIBUTES: Final = ("src", "alt")
_BLANK: Final = re.compile(r"[ \t\r\n\f]+")
_LINE: Final = re.compile(r"\r\n|\n|\r")
_KINDS: Final = {
    "ternary_expression": "a condition chooses them",
    "binary_expression": "code combines them",
    "template_string": "a template combines them",
    "identifier": "a variable holds them",
    "member_expression": "a variable holds them",
    "call_expression": "a function returns them",
    "subscript_expression": "a variable holds them",
}


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason why a value cannot be edited by hand: a stable code, the problem, a hint."""

    code: str
    reason: str
    hint: str = "Ask the agent to change it."


@dataclass(frozen=True, slots=True)
class Slot:
    """The place of a value: `value` is the current source value (None if there is none), `write` returns the splice for
    another one. `partly`: code adds to it and may override it."""

    value: str | None
    write: Callable[[str], Splice]
    partly: bool = False


def slot_of(element: Element, edit: EditRequest) -> Slot | Refusal:
    """The slot of an edit."""
    if edit.kind == "classes":
        return class_slot(element)
    if edit.kind == "text":
        return text_slot(element)
    return attribute_slot(element, edit.attribute or "")


def class_slot(element: Element) -> Slot | Refusal:
    """The string of its className: a literal, or the first literal of cn() and the like; a new attribute if there is
    none."""
    attribute = element.attributes.get("className")
    if attribute is None:
        return _new_class(element)
    spread_after = any(one.start_byte > attribute.start_byte for one in element.spreads)
    value = value_of(attribute)
    if value is None:
        return _dynamic_class("className has no value")
    if literals.is_literal(value):
        return _literal(element.parsed, value, spread_after)
    if value.type == "call_expression":
        return _joined(element.parsed, value)
    return _dynamic_class(_KINDS.get(value.type, "code computes them"))


def text_slot(element: Element) -> Slot | Refusal:
    """The content between its tags, if that is only text."""
    if element.closing is None:
        return Refusal("no_text", f"<{element.name}> is self-closing and has no text.", "Choose another element.")
    spoken = [one for one in element.children if not _is_blank(element.parsed, one)]
    if any(one.type in ("jsx_element", "jsx_self_closing_element") for one in spoken):
        return Refusal(
            "no_text", f"<{element.name}> contains other elements, not only text.", "Choose the element with the text."
        )
    if all(one.type == "jsx_text" for one in spoken):
        return _between(element)
    if len(spoken) == 1 and literals.is_literal(inner := unwrapped(spoken[0])):
        return _literal(element.parsed, inner, False)
    return Refusal("dynamic_text", f"Code computes the text of this <{element.name}>: {_short(element, spoken)}.")


def attribute_slot(element: Element, name: str) -> Slot | Refusal:
    """An attribute of a picture, `src` or `alt`, if it is a plain string or missing."""
    if element.name not in PICTURES or name not in ATTRIBUTES:
        return Refusal(
            "attribute_unsupported",
            f"The attribute {name!r} of <{element.name}> cannot be edited by hand.",
            "Only src and alt of pictures (img, Image) can.",
        )
    attribute = element.attributes.get(name)
    if attribute is not None:
        value = value_of(attribute)
        if value is not None and literals.is_literal(value):
            return _literal(element.parsed, value, False)
        return Refusal("dynamic_attribute", f"Code sets the {name} of this <{element.name}>.")
    if element.spreads:
        return Refusal("dynamic_attribute", f"The {name} may come from the spread properties.")
    return Slot(None, lambda new: _insert(element, name, new))


def plain(text: str) -> str:
    """Text as shown on a page: runs of blanks become one space, without blanks at the ends."""
    return _BLANK.sub(" ", text).strip(" ")


def same(edit: EditRequest, found: str | None, other: str | None) -> bool:
    """True if two values of the edit's kind are equal; no value and an empty one are."""
    if edit.kind == "text":
        return plain(found or "") == plain(other or "")
    if edit.kind == "classes":
        return (found or "").split() == (other or "").split()
    return (found or "") == (other or "")


def _new_class(element: Element) -> Slot | Refusal:
    if element.spreads:
        return Refusal(
            "spread_class",
            f"The classes of this <{element.name}> may come from its spread properties "
            f"({_short(element, element.spreads)}).",
        )
    return Slot(None, lambda new: _insert(element, "className", new))


def _joined(parsed: Parsed, call: "Node") -> Slot | Refusal:
    function = call.child_by_field_name("function")
    arguments = call.child_by_field_name("arguments")
    name = "" if function is None else parsed.text(function)
    if name not in JOINERS or arguments is None:
        return _dynamic_class(f"{name[:40] or 'a function'}() returns them")
    given = [one for one in arguments.named_children if one.type != "comment"]
    for one in given:
        if literals.is_literal(one):
            return _literal(parsed, one, len(given) > 1)
    return _dynamic_class(f"{name}() gets no plain string")


def _literal(parsed: Parsed, node: "Node", partly: bool) -> Slot:
    return Slot(literals.read(parsed, node), lambda new: literals.write(parsed, node, new), partly)


def _insert(element: Element, name: str, value: str) -> Splice:
    return Splice(element.after_name, element.after_name, literals.attribute_source(name, value))


def _between(element: Element) -> Slot:
    assert element.closing is not None
    start, end = element.opening.end_byte, element.closing.start_byte
    raw = element.parsed.source[start:end].decode()

    def write(new: str) -> Splice:
        core = raw.strip(" \t\r\n\f")
        lead = raw[: raw.index(core)] if core else ""
        trail = raw[len(lead) + len(core) :] if core else ""
        return Splice(start, end, f"{lead}{literals.encode_text(plain(new))}{trail}".encode())

    return Slot(literals.decode_entities(_shown(raw)), write)


def _shown(raw: str) -> str:
    """Text between tags as compiled: line ends with the blanks around them become one space, none at the ends."""
    lines = _LINE.split(raw.replace("\t", " "))
    inner = [line.strip(" ") for line in lines[1:-1]]
    ends = [lines[0].rstrip(" "), *inner, lines[-1].lstrip(" ")] if len(lines) > 1 else lines
    return " ".join(line for line in ends if line)


def _is_blank(parsed: Parsed, node: "Node") -> bool:
    """Blanks across a line end, which compilers drop."""
    text = parsed.text(node) if node.type == "jsx_text" else ""
    return "\n" in text and not text.strip(" \t\r\n")


def _dynamic_class(why: str) -> Refusal:
    return Refusal("dynamic_class", f"The classes of this element are not a plain string: {why}.")


def _short(element: Element, nodes: list["Node"]) -> str:
    shown = " ".join(" ".join(element.parsed.text(one).split()) for one in nodes)
    return shown if len(shown) <= 60 else f"{shown[:59]}…"

"""Converts one raw value (from TOML, or text from the environment or a flag) to the type of its setting."""

import json
import types
from collections.abc import Mapping
from dataclasses import Field, is_dataclass
from typing import Any, Literal, Union, get_args, get_origin

from outlast.base.settings.fields import SecretUrl

TRUE = frozenset({"true", "1", "yes", "on"})
FALSE = frozenset({"false", "0", "no", "off"})


class Unusable(Exception):
    """The value is invalid; the message says what was expected."""


def is_table(kind: Any) -> bool:
    """True for a nested table such as `[runs]`, also if it is optional."""
    return is_dataclass(plain(kind))


def plain(kind: Any) -> Any:
    """The type without `| None`."""
    if get_origin(kind) in (Union, types.UnionType):
        return next(part for part in get_args(kind) if part is not type(None))
    return kind


def convert(raw: Any, kind: Any, field: Field[Any]) -> Any:
    """`raw` as `kind`, inside the field's bounds. Raises `Unusable`."""
    kind = plain(kind)
    value = _converted(raw, kind, field)
    if value is None:
        raise Unusable(expected(kind, field))
    return value


def from_text(text: str, kind: Any) -> Any:
    """The value in an environment variable: JSON if the setting is a table or a list of tables, else the text."""
    kind = plain(kind)
    structured = get_origin(kind) not in (None, Literal) and get_args(kind)[:1] != (str,)
    if structured or get_origin(kind) in (Mapping, dict) or text.startswith(("[", "{")):
        try:
            return json.loads(text)
        except json.JSONDecodeError as error:
            raise Unusable(f"JSON ({error.msg})") from None
    return text


def expected(kind: Any, field: Field[Any]) -> str:
    """The values that a setting of this type and these bounds accepts, in words."""
    kind = plain(kind)
    if get_origin(kind) is Literal:
        return "one of " + ", ".join(get_args(kind))
    if get_origin(kind) is tuple:
        return "a list of strings"
    if get_origin(kind) is not None:
        return "a table"
    words = {bool: "true or false", int: "a whole number", float: "a number"}.get(kind, "text in quotes")
    least, most = field.metadata["least"], field.metadata["most"]
    bounds = [f"at least {least:g}"] if least is not None else []
    bounds += [f"at most {most:g}"] if most is not None else []
    unit = field.metadata["unit"]
    return words + (f" of {' and '.join(bounds)}" if bounds else "") + (f" ({unit})" if unit else "")


def _converted(raw: Any, kind: Any, field: Field[Any]) -> Any:
    """The converted value, or None if it is invalid. Raises `Unusable` where a better message is possible."""
    if get_origin(kind) is Literal:
        return raw if raw in get_args(kind) else None
    if get_origin(kind) is tuple:
        return _texts(raw)
    if get_origin(kind) is not None:
        return _mapping(raw, get_args(kind)[1], field) if isinstance(raw, Mapping) else None
    if kind in (int, float):
        return _number(raw, kind, field)
    if kind is bool:
        word = str(raw).lower() if isinstance(raw, (bool, str)) else ""
        return word in TRUE if word in TRUE | FALSE else None
    if not isinstance(raw, str):
        return None
    return SecretUrl(raw) if kind is SecretUrl else raw


def _texts(raw: Any) -> tuple[str, ...] | None:
    if isinstance(raw, str):
        return tuple(item.strip() for item in raw.split(",") if item.strip())
    is_texts = isinstance(raw, list) and all(isinstance(item, str) for item in raw)
    return tuple(raw) if is_texts else None


def _mapping(raw: Mapping[str, Any], item: Any, field: Field[Any]) -> Mapping[str, Any]:
    if item is str and not all(isinstance(value, str) for value in raw.values()):
        raise Unusable("a table of strings")
    if get_origin(item) in (Union, types.UnionType):  # plans: a number or "unlimited"
        return types.MappingProxyType({name: _plan(value, field) for name, value in raw.items()})
    return types.MappingProxyType(dict(raw))


def _plan(raw: Any, field: Field[Any]) -> int | None:
    number = None if raw == "unlimited" else _number(raw, int, field)
    if number is None and raw != "unlimited":
        raise Unusable('a whole number of at least 0 or "unlimited" for each plan')
    return number


def _number(raw: Any, kind: type, field: Field[Any]) -> Any:
    """The number, or None if it is not one or is outside the field's bounds."""
    if isinstance(raw, bool) or not isinstance(raw, (int, str) if kind is int else (int, float, str)):
        return None
    try:
        value = kind(raw)
    except ValueError:
        return None
    least, most = field.metadata["least"], field.metadata["most"]
    is_outside = (least is not None and value < least) or (most is not None and value > most)
    return None if is_outside or value != value or abs(value) == float("inf") else value

"""One raw value (from TOML, or text from the environment or a flag) into the type its setting has."""

import json
import types
from collections.abc import Mapping
from dataclasses import Field, is_dataclass
from typing import Any, Literal, Union, get_args, get_origin

from outlast.base.settings.fields import SecretUrl

TRUE = frozenset({"true", "1", "yes", "on"})
FALSE = frozenset({"false", "0", "no", "off"})


class Unusable(Exception):
    """The value does not fit: says what was expected."""


def is_table(kind: Any) -> bool:
    """A nested table: `[runs]`, also where it may be absent."""
    return is_dataclass(plain(kind))


def plain(kind: Any) -> Any:
    """The type without `| None`."""
    if get_origin(kind) in (Union, types.UnionType):
        return next(part for part in get_args(kind) if part is not type(None))
    return kind


def convert(raw: Any, kind: Any, field: Field[Any]) -> Any:
    """`raw` as `kind`, inside the field's bounds. Raises `Unusable`."""
    kind = plain(kind)
    if get_origin(kind) is Literal:
        if raw not in get_args(kind):
            raise Unusable(expected(kind, field))
        return raw
    if get_origin(kind) is tuple:
        return _texts(raw)
    if get_origin(kind) is not None:
        return _mapping(raw, kind, field)
    if kind is bool:
        return _flag(raw)
    if kind in (int, float):
        return _bounded(_number(raw, kind, field), field)
    if not isinstance(raw, str):
        raise Unusable("text in quotes")
    return SecretUrl(raw) if kind is SecretUrl else raw


def from_text(text: str, kind: Any) -> Any:
    """What an environment variable says: JSON where the setting is a table or a list of tables, else the text."""
    kind = plain(kind)
    structured = get_origin(kind) not in (None, Literal) and get_args(kind)[:1] != (str,)
    if structured or get_origin(kind) in (Mapping, dict) or text.startswith(("[", "{")):
        try:
            return json.loads(text)
        except json.JSONDecodeError as error:
            raise Unusable(f"JSON ({error.msg})") from None
    return text


def expected(kind: Any, field: Field[Any]) -> str:
    """What a setting of this type and these bounds takes, in words."""
    kind = plain(kind)
    if get_origin(kind) is Literal:
        return "one of " + ", ".join(get_args(kind))
    if get_origin(kind) is tuple:
        return "a list of texts"
    if get_origin(kind) is not None:
        return "a table"
    words = {bool: "true or false", int: "a whole number", float: "a number"}.get(kind, "text in quotes")
    least, most = field.metadata["least"], field.metadata["most"]
    bounds = [f"at least {least:g}"] if least is not None else []
    bounds += [f"at most {most:g}"] if most is not None else []
    unit = field.metadata["unit"]
    return words + (f" of {' and '.join(bounds)}" if bounds else "") + (f" ({unit})" if unit else "")


def _texts(raw: Any) -> tuple[str, ...]:
    if isinstance(raw, str):
        return tuple(item.strip() for item in raw.split(",") if item.strip())
    if not isinstance(raw, list) or not all(isinstance(item, str) for item in raw):
        raise Unusable("a list of texts")
    return tuple(raw)


def _mapping(raw: Any, kind: Any, field: Field[Any]) -> Mapping[str, Any]:
    if not isinstance(raw, Mapping):
        raise Unusable("a table")
    item = get_args(kind)[1]
    if item is str and not all(isinstance(value, str) for value in raw.values()):
        raise Unusable("a table of texts")
    if get_origin(item) in (Union, types.UnionType):  # plans: a number or "unlimited"
        return types.MappingProxyType({name: _plan(value, field) for name, value in raw.items()})
    return types.MappingProxyType(dict(raw))


def _plan(raw: Any, field: Field[Any]) -> int | None:
    if raw == "unlimited":
        return None
    try:
        return int(_bounded(_number(raw, int, field), field))
    except Unusable:
        raise Unusable('a whole number of at least 0 or "unlimited" for each plan') from None


def _flag(raw: Any) -> bool:
    word = str(raw).lower()
    if isinstance(raw, (bool, str)) and word in TRUE | FALSE:
        return word in TRUE
    raise Unusable("true or false")


def _number(raw: Any, kind: type, field: Field[Any]) -> Any:
    allowed = (int, str) if kind is int else (int, float, str)
    if isinstance(raw, bool) or not isinstance(raw, allowed):
        raise Unusable(expected(kind, field))
    try:
        return kind(raw)
    except ValueError:
        raise Unusable(expected(kind, field)) from None


def _bounded(value: Any, field: Field[Any]) -> Any:
    least, most = field.metadata["least"], field.metadata["most"]
    outside = (least is not None and value < least) or (most is not None and value > most)
    if outside or value != value or value in (float("inf"), float("-inf")):
        raise Unusable(expected(type(value), field))
    return value

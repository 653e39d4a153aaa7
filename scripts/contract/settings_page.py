"""docs/reference/configuration.md, from the settings tables."""

import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, get_args, get_origin

from outlast.base.settings.values import plain
from outlast.kernel.settings import settings_class
from outlast.kernel.settings.load import environment_name
from scripts.contract.pages import code, heading, page, prose, table

COLUMNS = ("setting", "default", "unit", "values", "meaning")


def write() -> str:
    """The page."""
    root = settings_class()
    lines = heading("Configuration", prose("settings"))
    hints = typing.get_type_hints(root)
    top = [field for field in fields(root) if not _table_of(hints[field.name])[0]]
    lines += ["## Top of the file", "", *table(COLUMNS, (_row("", field, hints) for field in top))]
    for field in fields(root):
        kind, header = _table_of(hints[field.name], field.name)
        if kind is not None:
            lines += list(_section(kind, header, field.name))
    return page(lines)


def _section(kind: Any, header: str, name: str, *, in_rows: bool = False) -> Iterator[str]:
    """`in_rows`: the table is inside a repeated one, so its settings have no environment variables."""
    yield f"## {header}"
    yield ""
    yield " ".join((kind.__doc__ or "").split())
    yield ""
    hints = typing.get_type_hints(kind)
    simple = [field for field in fields(kind) if not _table_of(hints[field.name])[0]]
    in_rows = in_rows or header != f"[{name}]"
    prefix = "" if in_rows else f"{name}."
    yield from table(COLUMNS, (_row(prefix, field, hints) for field in simple))
    for field in fields(kind):
        inner, inner_header = _table_of(hints[field.name], f"{name}.{field.name}")
        if inner is not None:
            yield from _section(inner, inner_header, f"{name}.{field.name}", in_rows=in_rows)


def _table_of(hint: Any, name: str = "") -> tuple[Any, str]:
    """The dataclass of a nested table and its TOML form; (None, "") for a plain value."""
    kind = plain(hint)
    if is_dataclass(kind):
        return kind, f"[{name}]"
    arguments = get_args(kind)
    if get_origin(kind) is tuple and is_dataclass(arguments[0]):
        return arguments[0], f"[[{name}]]"
    if len(arguments) == 2 and is_dataclass(arguments[1]):
        return arguments[1], f"[{name}.NAME]"
    return None, ""


def _row(prefix: str, field: Field[Any], hints: Mapping[str, Any]) -> tuple[str, ...]:
    name = prefix + field.name
    shown = code(name)
    if prefix or field.name == "default_model":
        variables = [environment_name(tuple(name.split(".")))] + [field.metadata["env"]] * bool(field.metadata["env"])
        shown += "<br>" + " ".join(code(variable) for variable in variables)
    kind = plain(hints[field.name])
    return shown, _default(field), field.metadata["unit"], _values(kind, field), field.metadata["sentence"]


def _default(field: Field[Any]) -> str:
    if field.default is MISSING and field.default_factory is MISSING:
        return "required"
    value = field.default_factory() if field.default_factory is not MISSING else field.default
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {'unlimited' if item is None else item}" for name, item in value.items()) or "none"
    if value is None:
        return "none"
    if isinstance(value, tuple):
        return "none" if not value else ", ".join(map(str, value))
    return code(str(value).lower() if isinstance(value, bool) else value) or "empty"


def _values(kind: Any, field: Field[Any]) -> str:
    if get_origin(kind) is typing.Literal:
        return ", ".join(map(code, get_args(kind)))
    if get_origin(kind) is tuple:
        return "texts"
    if get_origin(kind) is not None or isinstance(kind, types.GenericAlias):
        return "table"
    words = {bool: "true, false", int: "whole number", float: "number"}.get(kind, "text")
    least, most = field.metadata["least"], field.metadata["most"]
    bounds = f"{'' if least is None else f'{least:g}'} … {'' if most is None else f'{most:g}'}"
    return words if least is None and most is None else f"{words}, {bounds.strip()}"

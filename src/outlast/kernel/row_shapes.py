"""Turns rows into the shapes of the API."""

from datetime import datetime
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel

from outlast.base.clock import iso

Shape = TypeVar("Shape", bound=BaseModel)


def shape_of(shape: type[Shape], *rows: NamedTuple, **more: Any) -> Shape:
    """A shape from rows: their columns that the shape has, times as ISO 8601. `more` are the other fields."""
    fields = shape.model_fields
    columns = {name: value for row in rows for name, value in row._asdict().items() if name in fields}
    plain = {name: iso(value) if isinstance(value, datetime) else value for name, value in columns.items()}
    return shape(**plain | more)

"""Look-ups that must find something."""

from typing import Any, TypeVar

from outlast.base.errors import NotFound

T = TypeVar("T")


def demand_found(thing: T | None, message: str, *, hint: str | None = None, **fields: Any) -> T:
    """The thing. Raises `NotFound` where there is none."""
    if thing is None:
        raise NotFound(message, hint=hint, **fields)
    return thing

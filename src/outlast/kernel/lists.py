"""What actions that list something return."""

from typing import Generic, NamedTuple, TypeVar

Item = TypeVar("Item")
Cursor = TypeVar("Cursor", str, int)


class Listed(NamedTuple, Generic[Item, Cursor]):
    """A part of a list; `next` asks for the following items (None: there are none)."""

    items: list[Item]
    next: Cursor | None

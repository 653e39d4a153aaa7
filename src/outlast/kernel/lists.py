"""The result of actions that list something."""

from typing import Generic, NamedTuple, TypeVar

Item = TypeVar("Item")
Cursor = TypeVar("Cursor", str, int)


class Listed(NamedTuple, Generic[Item, Cursor]):
    """A page of a list; `next` is the cursor of the next page, or None on the last page."""

    items: list[Item]
    next: Cursor | None

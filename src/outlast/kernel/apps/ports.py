"""Ports: interfaces that the kernel or an app needs, and another app implements."""

from typing import Any, Generic, NamedTuple, TypeVar

from outlast.base.records import dataclass

T = TypeVar("T")


class Implementation(NamedTuple):
    """A port, and an app's implementation of it."""

    port: "Port[Any]"
    by: Any


@dataclass(frozen=True, slots=True, eq=False)
class Port(Generic[T]):
    """Declared next to its user; at most one app implements it. Messages call it `name`; `empty` is used if no app
    implements it. `registry.implementation` finds an implementation that an app declares, `Services.implementation` and
    `Opening.implementation` one that it opens for the life of a server."""

    name: str
    empty: T

    def by(self, implementation: T) -> Implementation:
        """For `App.implements` and `Opened.implements`."""
        return Implementation(self, implementation)

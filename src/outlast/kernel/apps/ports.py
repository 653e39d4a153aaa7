"""Ports: what the kernel or an app needs of an app that it does not know."""

from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Implementation(NamedTuple):
    """A port, and what an app answers it with."""

    port: "Port[Any]"
    by: Any


@dataclass(frozen=True, slots=True, eq=False)
class Port(Generic[T]):
    """Declared beside what uses it; at most one app implements it. `name` says in messages what it is, `empty` answers
    where no app implements it. `registry.implementation` finds what does."""

    name: str
    empty: T

    def by(self, implementation: T) -> Implementation:
        """For `App.implements`."""
        return Implementation(self, implementation)

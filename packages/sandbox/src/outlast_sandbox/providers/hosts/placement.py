"""Chooses the host of a new sandbox. Pure."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HostLoad:
    """What placement knows of a host: `used` sandboxes of `capacity`; `answers`: False while it is left alone because
    it did not answer."""

    name: str
    capacity: int
    used: int
    labels: frozenset[str] = frozenset()
    answers: bool = True


def ranked(hosts: Iterable[HostLoad], wanted: Collection[str] = ()) -> list[str]:
    """The hosts that may take a sandbox, the best first: those that answer, carry all wanted labels and have room, by
    the share of their capacity that is free, then by name. Empty if there is none."""
    fitting = [host for host in hosts if host.answers and host.used < host.capacity and host.labels >= set(wanted)]
    return [host.name for host in sorted(fitting, key=lambda host: (host.used / host.capacity, host.name))]

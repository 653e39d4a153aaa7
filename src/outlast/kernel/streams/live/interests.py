"""Who follows what on other nodes: told by those nodes, and forgotten unless they repeat it."""

from collections.abc import Iterable
from typing import Final

from outlast.base.clock import Clock

RENEW_S: Final = 10.0
LEASE_S: Final = 25.0  # two renewals may be lost


class Interests:
    """Run ids with a lease each. In memory: one entry per run that any node follows now."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._until: dict[str, float] = {}
        self._swept_at = clock.monotonic()

    def __contains__(self, run_id: str) -> bool:
        until = self._until.get(run_id)
        return until is not None and until > self._clock.monotonic()

    def add(self, run_ids: Iterable[str]) -> list[str]:
        """Another node follows these runs; returns those that none followed until now."""
        now = self._clock.monotonic()
        new = [run_id for run_id in run_ids if self._until.get(run_id, now) <= now]
        self._until.update(dict.fromkeys(run_ids, now + LEASE_S))
        if now - self._swept_at > LEASE_S:
            self._swept_at = now
            self._until = {run_id: until for run_id, until in self._until.items() if until > now}
        return new

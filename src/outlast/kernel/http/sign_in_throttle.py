"""Counts the wrong secrets of an address within the last minute."""

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Final

from starlette.requests import HTTPConnection, Request

from outlast.base.clock import Clock
from outlast.base.errors import NotFound, NotSignedIn
from outlast.kernel.http.allowed_hosts import is_loopback
from outlast.kernel.http.request_heads import network_of
from outlast.kernel.limits.rules import WINDOW, check_rate

MAX_ADDRESSES: Final = 10_000
MAX_KEPT: Final = 1_000  # moments of one address


class WrongSignIns:
    """In memory, for one server process; addresses with the oldest attempts are dropped first."""

    def __init__(self) -> None:
        self._moments: OrderedDict[str, list[datetime]] = OrderedDict()

    @contextmanager
    def watched(self, request: Request, clock: Clock, limit: int) -> Iterator[None]:
        """Count a secret that turns out to be wrong inside. Raises `RateLimited` at once, without a check, if `limit`
        secrets of this address were wrong within the last minute (0 for any number)."""
        address = address_of(request)
        check_rate("address", self._moments.get(address, ()), limit, clock.now(), things="wrong sign-ins")
        try:
            yield
        except (NotSignedIn, NotFound):
            self._add(address, clock.now())
            raise

    def __len__(self) -> int:
        return len(self._moments)

    def _add(self, address: str, now: datetime) -> None:
        kept = [moment for moment in self._moments.pop(address, ()) if moment > now - WINDOW]
        self._moments[address] = [*kept[1 - MAX_KEPT :], now]
        while len(self._moments) > MAX_ADDRESSES:
            self._moments.popitem(last=False)


def address_of(request: HTTPConnection) -> str:
    """The client's address, or, behind a proxy on this machine, the last address in X-Forwarded-For, which the proxy
    added: addresses that a client sends itself come before it."""
    host = request.client.host if request.client else ""
    if is_loopback(host):
        forwarded = request.headers.getlist("x-forwarded-for")
        host = (forwarded[-1].split(",")[-1].strip() if forwarded else "") or host
    return network_of(host[:100])

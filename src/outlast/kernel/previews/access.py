"""Access to previews: cookies, cached for a moment, and the open answers of each visitor."""

import logging
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final

import anyio

from outlast.base.errors import OutlastError
from outlast.kernel.accounts.actor import ACCESS_BELL
from outlast.kernel.previews import actions
from outlast.kernel.previews.actions import Visitor
from outlast.kernel.previews.hosts import Address
from outlast.kernel.services import Services

REMEMBERED_S: Final = 10.0
MAX_REMEMBERED: Final = 10_000
log = logging.getLogger("outlast.preview")


_Key = tuple[str, Address]
"""A cookie's value and the address it was sent to."""


class Access:
    """In memory: checks of the last ten seconds, dropped at once after a change of access, and the cancel scope of each
    open answer, so that it ends when its visitor loses access."""

    def __init__(self, services: Services, *, local_mode: bool) -> None:
        self._services = services
        self._local_mode = local_mode
        self._known: dict[_Key, tuple[Visitor, float]] = {}
        self._open: dict[anyio.CancelScope, _Key] = {}
        self._rings = 0
        self._doubt = anyio.Event()
        self._closed = False

    async def exchange(self, secret: str, address: Address) -> str | None:
        """The cookie's value for a ticket; None when it is not valid."""
        return await actions.redeem(
            self._services, secret, address.sandbox_id, address.port, local_mode=self._local_mode
        )

    async def visitor(self, values: Iterable[str], address: Address) -> tuple[str, Visitor] | None:
        """The first of these cookies that is valid, and its visitor."""
        for value in values:
            visitor = await self._visitor((value, address))
            if visitor is not None:
                return value, visitor
        return None

    @contextmanager
    def open(self, value: str, address: Address) -> Iterator[anyio.CancelScope]:
        """A scope that is cancelled when the visitor loses access, or the server stops."""
        with anyio.CancelScope() as scope:
            self._open[scope] = value, address
            if self._closed:
                scope.cancel()
            try:
                yield scope
            finally:
                del self._open[scope]

    def on_bell(self, bell: str) -> None:
        """Listener for the database's notices."""
        if bell in (ACCESS_BELL, "*"):
            self._rings += 1
            self._known.clear()
            self._doubt.set()

    async def run(self) -> None:
        """End open answers of visitors who lost access; runs until cancelled."""
        while True:
            with anyio.move_on_after(self._services.settings.streams.recheck_s):
                await self._doubt.wait()
            self._doubt = anyio.Event()
            self._known.clear()
            for key in set(self._open.values()):
                await self._recheck(key)

    def close(self) -> None:
        """End all open answers, and new ones at once."""
        self._closed = True
        for scope in self._open:
            scope.cancel()

    def __len__(self) -> int:
        return len(self._open)

    async def _visitor(self, key: _Key) -> Visitor | None:
        known = self._known.get(key)
        if known is not None and time.monotonic() - known[1] < REMEMBERED_S:
            return known[0]
        began, rings = time.monotonic(), self._rings
        value, address = key
        visitor = await actions.visitor_of(
            self._services, value, address.sandbox_id, address.port, local_mode=self._local_mode
        )
        if visitor is not None and rings == self._rings:
            if len(self._known) >= MAX_REMEMBERED:
                self._known.clear()
            self._known[key] = visitor, began
        return visitor

    async def _recheck(self, key: _Key) -> None:
        try:
            visitor = await self._visitor(key)
        except OutlastError as error:  # checked again in the next round
            log.warning("previews not checked", extra={"code": error.code})
            return
        if visitor is None:
            for scope in [scope for scope, opened in self._open.items() if opened == key]:
                scope.cancel()

"""The access tokens of people's accounts: given to calls, and renewed once for all calls that need a new one.

Refresh tokens often die when they are used twice. So one process claims the row in a transaction, asks the server
outside of any, and commits the outcome; others wait for it. A process that dies in between leaves a claim that lapses:
the refresh token is tried once more, and if the server refuses it, the person has to connect again.
"""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final, NamedTuple, TypeVar
from weakref import WeakValueDictionary

import anyio

from outlast.base.clock import Clock
from outlast.base.connection_errors import ConnectionNeeded
from outlast.base.errors import OutlastError
from outlast.db.database import Database
from outlast.kernel.connections import store
from outlast.kernel.connections.grants import Grant, load
from outlast.kernel.connections.oauth_client import OAuth
from outlast.kernel.connections.rows import ConnectionRow
from outlast.kernel.connections.rules import new_verifier
from outlast.kernel.connections.services import Service
from outlast.kernel.connections.web_client import TIMEOUT_S
from outlast.kernel.secrets.vault import Vault

EARLY: Final = timedelta(seconds=30)  # before its end, a token is renewed
CLAIM: Final = timedelta(seconds=2 * TIMEOUT_S)  # longer than a request takes
LOOK_S: Final = 0.1  # between two looks at a row that another process renews
T = TypeVar("T")


class Account(NamedTuple):
    """A user's account on a server, which has this name."""

    user_id: str
    server_id: str
    server: str


class TokenRejected(Exception):
    """The server did not accept the token, and did nothing."""


class AccountTokens:
    """One per server. In memory: a lock for each account whose token is renewed."""

    def __init__(self, db: Database, vault: Vault, oauth: OAuth, clock: Clock) -> None:
        self._db, self._vault, self.oauth, self._clock = db, vault, oauth, clock
        self._locks: WeakValueDictionary[Account, anyio.Lock] = WeakValueDictionary()

    async def use(self, account: Account, work: Callable[[str], Awaitable[T]]) -> T:
        """The result of `work` with an access token. If it raises `TokenRejected`, it is called once more with a new
        token. Raises `ConnectionNeeded`, `SignInFailed`, and what `work` does."""
        access = await self._access(account)
        try:
            return await work(access)
        except TokenRejected:
            access = await self._access(account, rejected=access)
        try:
            return await work(access)
        except TokenRejected:
            await self._lose(account, access)
            raise _needed(account) from None

    async def test(self, account: Account, service: Service) -> str:
        """The name of an account, after one cheap request; empty if the service tells none. Raises as `use`."""

        async def ask(access: str) -> str:
            name = await self.oauth.account_on(service, access)
            if name is None:
                raise TokenRejected
            return name

        return await self.use(account, ask)

    def grant_of(self, row: ConnectionRow) -> Grant:
        """The tokens of a row. Raises `SecretKeyMissing`, `SecretUnreadable`."""
        return load(Grant, self._vault.open(row.sealed, store.about(row.user_id, row.server_id)))

    async def _access(self, account: Account, rejected: str | None = None) -> str:
        row = await self._db.read(store.find, account.user_id, account.server_id)
        access = self._good(account, row, rejected)
        if access is None:
            async with self._locks.setdefault(account, anyio.Lock()):  # one of this process looks at a time
                access = await self._renewed(account, rejected)
        now = self._clock.now()
        if row is not None and (row.last_used_at is None or row.last_used_at + store.USED_PRECISION <= now):
            await self._db.write(store.touch, account.user_id, account.server_id)
        return access

    def _good(self, account: Account, row: ConnectionRow | None, rejected: str | None) -> str | None:
        """The access token, or None if it has to be renewed. Raises `ConnectionNeeded`."""
        if row is None or row.state == "lost":
            raise _needed(account)
        access = self.grant_of(row).access
        is_old = row.expires_at is not None and row.expires_at - EARLY <= self._clock.now()
        return None if is_old or access == rejected else access

    async def _renewed(self, account: Account, rejected: str | None) -> str:
        while True:
            row = await self._db.read(store.find, account.user_id, account.server_id)
            if (access := self._good(account, row, rejected)) is not None:
                return access
            assert row is not None
            claim_id = new_verifier()
            with anyio.CancelScope(shield=True):  # a cancelled call loses no tokens that the server has given already
                if await self._db.write(store.claim, row, claim_id, CLAIM):
                    await self._renew(account, row, claim_id)
                    continue
            await self._clock.sleep(LOOK_S)

    async def _renew(self, account: Account, row: ConnectionRow, claim_id: str) -> None:
        try:
            issued = await self.oauth.renew(self.grant_of(row), self._clock.now())
        except ConnectionNeeded:
            await self._db.write(store.lose, row, claim_id)
            raise _needed(account) from None
        except OutlastError:
            await self._db.write(store.release, row, claim_id)
            raise
        await self._db.write(store.renew, self._vault, row, claim_id, issued)

    async def _lose(self, account: Account, access: str) -> None:
        row = await self._db.read(store.find, account.user_id, account.server_id)
        if row is not None and self.grant_of(row).access == access:
            await self._db.write(store.lose, row)


def _needed(account: Account) -> ConnectionNeeded:
    return ConnectionNeeded(f"The account on {account.server} is not connected.", server=account.server)

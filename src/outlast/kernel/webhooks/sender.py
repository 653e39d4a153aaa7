"""Sends what is due in the outbox: claims it, signs it, posts it, notes the answer, sleeps until the next is due."""

import logging
import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from importlib.metadata import version
from typing import TYPE_CHECKING, Final

import anyio
from anyio.abc import TaskGroup

from outlast.base.clock import Clock, wait_at_most
from outlast.base.errors import MalformedInput, OutlastError
from outlast.base.lazy_module import LazyModule
from outlast.base.secret_errors import SecretKeyMissing, SecretUnreadable
from outlast.base.supervision.supervisor import Supervisor
from outlast.db.database import Database, Tx
from outlast.kernel.http.private_addresses import PrivateAddress
from outlast.kernel.secrets.vault import Vault
from outlast.kernel.set_aside import kinds
from outlast.kernel.settings import Settings
from outlast.kernel.webhooks import store
from outlast.kernel.webhooks.outbox import BELL
from outlast.kernel.webhooks.rules import GONE, Outcome, checked_url, host_ports, next_of, outcome_of, with_whole_link
from outlast.kernel.webhooks.secret_text import open_secrets
from outlast.kernel.webhooks.signatures import signed_headers
from outlast.kernel.webhooks.store import Claimed, Kept

if TYPE_CHECKING:
    import aiohttp
else:
    aiohttp = LazyModule("aiohttp")

AT_ONCE: Final = 32
PAUSE_S: Final = 5.0  # after an error of the database
BESIDE_S: Final = 0.05  # while another server holds all that is due
CONNECT_S: Final = 5.0
ANSWER_BYTES: Final = 65_536
REASON_CHARS: Final = 300
log: Final = logging.getLogger("outlast.webhooks")


class Sender:
    """One per server. In memory: an event that wakes it, the number of deliveries under way of each webhook, and open
    connections. `share` gives random numbers from 0 to 1."""

    def __init__(
        self,
        db: Database,
        clock: Clock,
        vault: Vault,
        settings: Settings,
        supervisor: Supervisor | None = None,
        share: Callable[[], float] = random.random,
    ) -> None:
        self._db, self._clock, self._vault, self._share = db, clock, vault, share
        self._settings = settings.webhooks
        self._public_url = settings.server.public_url
        self._kept = Kept(timedelta(days=self._settings.delivered_days), timedelta(days=self._settings.dead_days))
        self._allowed = host_ports(self._settings.allow_private)
        self._guard = (supervisor or Supervisor(clock)).guard
        self._at_work: Counter[str] = Counter()
        self._news = anyio.Event()
        self._session: aiohttp.ClientSession | None = None
        db.on_notice(self._hear)

    async def run(self) -> None:
        """Run until cancelled. What is being sent then is sent again by the next server."""
        if self._db.dialect == "sqlite":  # no other server sends
            await self._db.write(store.take_over)
        try:
            async with anyio.create_task_group() as tasks:
                while True:
                    news = self._news
                    try:
                        left = await self._begin_due(tasks)
                    except OutlastError as error:
                        log.warning("webhooks not sent", extra={"code": error.code, "reason": error.message})
                        left = PAUSE_S
                    await wait_at_most(self._clock, news, left)
        finally:
            if self._session is not None:
                with anyio.CancelScope(shield=True):
                    await self._session.close()
                self._session = None

    async def _begin_due(self, tasks: TaskGroup) -> float | None:
        """Begin what is due, and remove what is over. Returns the seconds until there is more to do; None if only a
        bell or a delivery that ends can bring more."""
        while True:
            ahead = await self._db.read(store.ahead, store.busy_of(self._at_work))
            now, free = self._clock.now(), AT_ONCE - self._at_work.total()
            if ahead.over is not None and ahead.over <= now:
                await self._db.write(store.forget)
            elif free and ahead.due is not None and ahead.due <= now:
                claimed = await self._db.write(store.claim, free, dict(self._at_work), self._kept)
                for one in claimed:
                    self._at_work[one.webhook.id] += 1
                    tasks.start_soon(self._deliver, one)
                if not claimed:
                    return BESIDE_S
            else:
                moments = [one for one in (ahead.due if free else None, ahead.over) if one is not None]
                return max(0.0, (min(moments) - now).total_seconds()) if moments else None

    async def _deliver(self, one: Claimed) -> None:
        try:
            # If the note fails, the claim lapses, and it is sent again.
            await self._guard.once(kinds.WEBHOOK, one.delivery.id, self._send, one)
        finally:
            self._at_work[one.webhook.id] -= 1
            self._at_work += Counter()  # drops the zeros
            self._wake()

    async def _send(self, one: Claimed) -> None:
        outcome = await self._try(one)
        await self._db.write(self._note, one, outcome)

    def _note(self, tx: Tx, one: Claimed, outcome: Outcome) -> None:
        sent, settings = one.delivery, self._settings
        most = timedelta(seconds=settings.give_up_after_s)
        then = next_of(outcome, sent.tries, sent.tried_since, tx.now, settings.first_retry_s, most, self._share())
        if then.state == "pending":
            store.retry(tx, sent, outcome, then.wait_s)
            return
        store.end(tx, sent, outcome, then.state, self._kept)
        if outcome.status == GONE and outcome.reason is not None:
            store.stop(tx, one.webhook.id, outcome.reason)

    async def _try(self, one: Claimed) -> Outcome:
        """Post it once. Raises nothing but cancellation."""
        try:
            checked_url(one.webhook.url, self._allowed)
            headers, body = self._signed(one)
            return await self._post(one.webhook.url, headers, body)
        except TimeoutError:
            return Outcome(None, f"The address did not answer within {self._settings.timeout_s:g} s.")
        except PrivateAddress:
            return Outcome(None, "The address belongs to a private network.")
        except (MalformedInput, SecretKeyMissing, SecretUnreadable) as error:
            return Outcome(None, error.message)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            return Outcome(None, _why(error))

    def _signed(self, one: Claimed) -> tuple[dict[str, str], bytes]:
        now = self._clock.now()
        body = with_whole_link(one.delivery.body, self._public_url)
        secret_texts = open_secrets(self._vault, one.webhook, now)
        return signed_headers(secret_texts, one.delivery.id, int(now.timestamp()), body), body

    async def _post(self, url: str, headers: dict[str, str], body: bytes) -> Outcome:
        kind = {"content-type": "application/json"}
        async with self._connections().post(url, data=body, headers=headers | kind, allow_redirects=False) as answer:
            with suppress(aiohttp.ClientError, TimeoutError):  # the status says it all
                await _drain(answer)
            return outcome_of(answer.status)

    def _connections(self) -> "aiohttp.ClientSession":
        if self._session is None:
            from outlast.kernel.http.http_resolver import Resolver

            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(resolver=Resolver(self._allowed), use_dns_cache=False, limit=AT_ONCE),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers={"User-Agent": f"Outlast/{version('outlast')} (webhooks)"},
                timeout=aiohttp.ClientTimeout(total=self._settings.timeout_s, sock_connect=CONNECT_S),
                auto_decompress=False,
            )
        return self._session

    def _hear(self, stream_id: str) -> None:
        if stream_id in (BELL, "*"):
            self._wake()

    def _wake(self) -> None:
        self._news.set()
        self._news = anyio.Event()


async def _drain(answer: "aiohttp.ClientResponse") -> None:
    """Read a short answer, so that its connection can be used again."""
    left = ANSWER_BYTES
    while left > 0 and (block := await answer.content.read(left)):
        left -= len(block)


def _why(error: Exception) -> str:
    inner = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    if isinstance(inner, PrivateAddress):
        return "The address belongs to a private network."
    words = getattr(inner, "strerror", None) or str(inner) or type(inner).__name__
    return f"The address cannot be reached: {words[:REASON_CHARS]}."

"""Opens the transport between nodes that the settings ask for."""

import logging
from typing import TYPE_CHECKING, Any, Final

import anyio

from outlast.base.clock import Clock
from outlast.base.errors import InvalidSetting
from outlast.base.settings.fields import SecretUrl
from outlast.db.database import Database
from outlast.kernel.streams.live.memory import MemoryLive
from outlast.kernel.streams.live.port import Live

if TYPE_CHECKING:
    from redis.asyncio import Redis

SCHEMES: Final = ("redis://", "rediss://", "unix://")
OLDEST: Final = 7
SETTING: Final = "live.redis_url"
CONNECT_S: Final = 2.0
log: Final = logging.getLogger("outlast.streams")


async def open_live(redis_url: SecretUrl, db: Database, clock: Clock) -> Live:
    """The transport: none on SQLite, the database, or the database with Redis. Raises `InvalidSetting` for an address
    that is none, a Redis that is too old or refuses the password, or Redis beside SQLite. A Redis that does not answer
    is no reason: it is looked for every few seconds."""
    url = redis_url.reveal()
    if url and not url.startswith(SCHEMES):
        raise _invalid("live.redis_url is not the address of a Redis.", "Write redis://:password@host:6379/0.")
    if url and db.dialect == "sqlite":
        raise _invalid(
            "live.redis_url has no effect on SQLite: it has one server, which needs no transport.",
            "Remove it, or set database.url to a PostgreSQL.",
        )
    if db.dialect == "sqlite":
        return MemoryLive()
    # Loaded here because one node on SQLite needs none of it.
    from outlast.kernel.streams.live.database import DatabaseLive

    live = DatabaseLive(db, clock)
    if url:
        from outlast.kernel.streams.live.redis_carrier import RedisCarrier

        client = open_client(url)
        await _check(client)
        live.use(RedisCarrier(client, live, clock))
    return live


def open_client(url: str) -> "Redis":
    """A client that tries nothing twice: what fails goes through the database. Raises `InvalidSetting`."""
    from redis.asyncio import Redis
    from redis.asyncio.retry import Retry
    from redis.backoff import NoBackoff

    try:
        client: Redis = Redis.from_url(
            url,
            protocol=2,
            retry=Retry(NoBackoff(), 0),
            socket_connect_timeout=CONNECT_S,
            socket_timeout=None,  # each call has its own
            socket_keepalive=True,
            client_name="outlast",
        )
    except ValueError as error:
        raise _invalid(
            "live.redis_url is not the address of a Redis.", "Write redis://:password@host:6379/0."
        ) from error
    return client


async def _check(client: "Redis") -> None:
    from redis.exceptions import AuthenticationError, RedisError, ResponseError

    try:
        with anyio.fail_after(CONNECT_S):
            facts: dict[str, Any] = await client.info("server")
    except (AuthenticationError, ResponseError) as error:
        raise _invalid(f"Redis refused the connection: {error}.", "Check user, password and number.") from error
    except (RedisError, OSError, TimeoutError) as error:
        log.warning(
            "Redis does not answer yet: until it does, live text goes through the database",
            extra={"reason": str(error)},
        )
        return
    version = str(facts.get("redis_version", "0"))
    if int(version.partition(".")[0]) < OLDEST:
        raise _invalid(f"This Redis has version {version}.", f"Outlast needs Redis {OLDEST} or newer.")


def _invalid(message: str, hint: str) -> InvalidSetting:
    return InvalidSetting(message, hint=hint, setting=SETTING)

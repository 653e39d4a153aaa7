"""What several processes on one PostgreSQL need of it and of their machines: enough connections, and clocks that
agree. Nothing here stops a server: it is logged, and `outlast doctor` and `/readyz?verbose` show it."""

import logging
from typing import Any, Final, NamedTuple

import sqlalchemy as sa

from outlast.base.errors import OutlastError
from outlast.db.database import Database, Tx
from outlast.db.database_clock import DatabaseClock
from outlast.db.postgres_options import BESIDE_POOL, PostgresOptions
from outlast.kernel.settings import Settings

log: Final = logging.getLogger("outlast.database")
_ROOM: Final = sa.text(
    """
    SELECT current_setting('max_connections')::int, rolsuper, rolconnlimit, datconnlimit,
        current_setting('superuser_reserved_connections')::int
            + coalesce(current_setting('reserved_connections', true)::int, 0),
        (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid())
    FROM pg_roles, pg_database WHERE rolname = current_user AND datname = current_database()
    """
)


class ConnectionRoom(NamedTuple):
    """Connections: how many a server `needs` at most, how many PostgreSQL `allows` its user, and how many `others`
    there are now, besides the one that asks."""

    needs: int
    allows: int
    others: int

    @property
    def is_enough(self) -> bool:
        return self.needs <= self.allows

    def __str__(self) -> str:
        return f"a server uses up to {self.needs} of the {self.allows} that PostgreSQL allows; {self.others} are open"


class ClockState(NamedTuple):
    """How far this machine's clock is ahead of the database's, in seconds, and how far it may be."""

    ahead_s: float
    tolerated_s: float
    is_right: bool

    def __str__(self) -> str:
        where = "ahead of" if self.ahead_s >= 0 else "behind"
        return f"{abs(self.ahead_s):.3f} s {where} the database's; {self.tolerated_s:g} s are tolerated"


def options_of(settings: Settings) -> PostgresOptions:
    """How a process with these settings talks to PostgreSQL."""
    return PostgresOptions(pool_size=settings.database.pool_size, tolerated_s=settings.runs.lease_s / 3)


def room_of(tx: Tx, settings: Settings) -> ConnectionRoom | None:
    """None on SQLite."""
    if tx.conn.dialect.name != "postgresql":
        return None
    found: Any = tx.execute(_ROOM).one()
    most, is_superuser, of_role, of_database, reserved, others = found
    limits = [most] if is_superuser else [most - reserved, *(one for one in (of_role, of_database) if one >= 0)]
    return ConnectionRoom(settings.database.pool_size + BESIDE_POOL, min(limits), others)


async def warn_of_room(database: Database, settings: Settings) -> None:
    """Log it if PostgreSQL allows fewer connections than this server may use."""
    try:
        room = await database.read(room_of, settings)
    except OutlastError:
        return  # the next transaction says so
    if room is not None and not room.is_enough:
        log.warning(
            "PostgreSQL allows too few connections: transactions will wait for one another; lower database.pool_size, "
            "or raise max_connections",
            extra=room._asdict(),
        )


def clock_of(database: Database) -> ClockState | None:
    """As last measured; None if the database has no clock of its own."""
    clock = database.clock
    if not isinstance(clock, DatabaseClock):
        return None
    return ClockState(clock.ahead_s, clock.tolerated_s, not clock.is_skewed)

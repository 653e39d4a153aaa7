"""How a process talks to PostgreSQL: limits of connections and times."""

from typing import Final

from outlast.base.records import dataclass

POOL_SIZE: Final = 20
BESIDE_POOL: Final = 2  # connections of a server beside its pool: one listens, one renews leases


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresOptions:
    """`pool_size`: connections for transactions. Times in seconds: `connect_s` until a connection is open, `room_s`
    until a transaction has one, `command_s` for one statement (None: as long as it takes), `answer_s` for what
    PostgreSQL answers at once, `beat_s` between two checks of the connection that listens, `stalled_s` until
    PostgreSQL ends a transaction of a process that stands still. `tolerated_s`: how far the own clock may be from the
    database's before it is logged."""

    pool_size: int = POOL_SIZE
    connect_s: float = 10.0
    room_s: float = 10.0
    command_s: float | None = 30.0
    answer_s: float = 5.0
    beat_s: float = 10.0
    # A process that was stopped or cut off in the middle of a transaction must not hold its rows forever: another
    # process takes over its runs. No transaction waits for anything but the database.
    stalled_s: float = 10.0
    tolerated_s: float = 5.0

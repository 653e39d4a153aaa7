"""Answers about the health of the server: `/healthz`, `/readyz`, and parts of the administration."""

from outlast.kernel.http.shapes import Answer


class HealthAnswer(Answer):
    status: str


class SandboxHealth(Answer):
    ok: bool
    isolation: str
    details: list[str]
    fixes: list[str]


class ServiceHealth(Answer):
    """A part of the server, and whether it works."""

    name: str
    is_vital: bool
    down_s: float
    restarts: int
    code: str


class ClockHealth(Answer):
    """How far the machine's clock is ahead of the database's, whose time is used, and how far it may be."""

    ok: bool
    ahead_s: float
    tolerated_s: float


class SetAsideItem(Answer):
    """Work that failed repeatedly and is not tried again."""

    kind: str
    id: str
    since: str
    tries: int
    code: str


class ReadyAnswer(Answer):
    """Whether the server can work. Services, failed work and the clock only with `?verbose`; the clock only on
    PostgreSQL."""

    status: str
    database: str
    sandbox: SandboxHealth
    down: list[str]
    services: list[ServiceHealth] | None = None
    clock: ClockHealth | None = None
    set_aside: list[SetAsideItem] | None = None

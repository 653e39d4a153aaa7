"""Services outside of this server that apps use: `outlast doctor --connections` tries them, and keeps which passed."""

from collections.abc import Awaitable, Callable, Mapping
from hashlib import sha256
from importlib import import_module
from typing import Final

import sqlalchemy as sa

from outlast.base.clock import Clock, iso
from outlast.base.records import dataclass
from outlast.db.database import Tx
from outlast.db.tables import meta, put_fact
from outlast.kernel.apps import registry
from outlast.kernel.settings import Settings

NOT_TRIED: Final = "not yet tried against the real service"
_FACT: Final = "passed_"


class TrialFailed(Exception):
    """A service does not work; the message gives the reason, for operators."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One service. `name`: at most 30 characters, one of its kind; `what`: for people; `about`: its configuration: with
    another one it has to be tried again. `run` makes one cheap request and returns what it found, or raises
    `TrialFailed`."""

    name: str
    what: str
    about: str
    run: Callable[[], Awaitable[str]]


def trials_of(settings: Settings, environment: Mapping[str, str], clock: Clock) -> list[Trial]:
    """The services that apps use with these settings. `environment` holds their keys."""
    modules = [import_module(app.trials) for app in registry.load().apps if app.trials]
    return [trial for module in modules for trial in module.trials(settings, environment, clock)]


def put_passed(tx: Tx, trial: Trial) -> None:
    """Keep that a service works."""
    put_fact(tx, _FACT + trial.name, f"{_mark(trial)} {iso(tx.now)}")


def passed_at(tx: Tx, trial: Trial) -> str | None:
    """When a service last passed with its present configuration (ISO 8601), or None."""
    found = tx.execute(sa.select(meta.c.value).where(meta.c.key == _FACT + trial.name)).scalar()
    mark, _, at = (found or "").partition(" ")
    return at if mark == _mark(trial) else None


def _mark(trial: Trial) -> str:
    return sha256(trial.about.encode()).hexdigest()

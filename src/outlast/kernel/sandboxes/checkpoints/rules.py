"""The checkpoints that are kept. Pure."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple


class Kept(NamedTuple):
    """The facts for a checkpoint: whether it is its workspace's `newest`, the message it belongs to, whether it was
    made in a run, and whether that run's record still exists."""

    checkpoint_id: str
    newest: bool
    message_id: str | None
    run_id: str | None
    recorded: bool
    created_at: datetime


def superfluous(checkpoints: Iterable[Kept], now: datetime, keep_unbound: timedelta) -> list[str]:
    """The checkpoints that are no longer kept. The newest of a workspace and those of a message live as long as their
    thread; those in between as long as their run's record; those without a run for `keep_unbound`."""
    return [one.checkpoint_id for one in checkpoints if not _stays(one, now, keep_unbound)]


def _stays(one: Kept, now: datetime, keep_unbound: timedelta) -> bool:
    if one.newest or one.message_id is not None:
        return True
    if one.run_id is not None:
        return one.recorded
    return now - one.created_at < keep_unbound

"""Hooks of apps inside the transactions of runs: one that raises undoes itself and nothing else."""

import logging
from collections.abc import Callable
from typing import Final, TypeVar

from outlast.base.errors import OutlastError
from outlast.db.database import Tx
from outlast.db.savepoints import is_of_transaction, savepoint
from outlast.kernel.subjects import registry
from outlast.kernel.subjects.subject import RunHooks

T = TypeVar("T")
FAILED: Final = "The {what} could not take part when this run {when}: {reason}"
_UNKNOWN: Final = "an error in the server; see its log."
log = logging.getLogger("outlast.subjects")


def call_run_hook(tx: Tx, profile: str, when: str, call: Callable[[RunHooks], None]) -> list[str]:
    """Call a hook of the subject of this profile's runs, guarded. Returns the problem to note for the run, if the hook
    raised."""
    subject = registry.subject(profile)
    if subject is None or type(subject.runs) is RunHooks:
        return []
    return call_guarded(tx, profile, when, lambda: call(subject.runs), None)[1]


def call_guarded(tx: Tx, what: str, when: str, call: Callable[[], T], otherwise: T) -> tuple[T, list[str]]:
    """The result of `call`, and no problem. If `call` raises, its changes in the transaction are undone, the error is
    logged, and the result is `otherwise` with a problem to note for the run. `when` completes "when this run …". Raises
    only errors of the whole transaction."""
    try:
        with savepoint(tx):
            return call(), []
    except Exception as error:
        if is_of_transaction(error):
            raise
        log.error("a hook failed", extra={"hook_of": what, "when": when}, exc_info=error)
        return otherwise, [FAILED.format(what=what, when=when, reason=reason_of(error))]


def reason_of(error: Exception) -> str:
    """The text of an error for people: our own messages hold no secret."""
    return error.message if isinstance(error, OutlastError) else _UNKNOWN

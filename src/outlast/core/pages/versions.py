"""The history of pages: taking changes as versions, going back, and what a page was. First argument: the open
transaction, second the page's id.

Each taken change makes the next version, in the caller's transaction, with the page's row held. A run's changes are
returned as events for its log; a person's are told in the thread's log here. A whole page is stored with every 25th
version and wherever patches do not say it, so that any version is read by applying a few patches.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from outlast.base.page_data import PageVersion, Patch
from outlast.core.pages.live import LiveTrees
from outlast.db.database import Tx


@dataclass(frozen=True, slots=True)
class Rules:
    """What bounds pages: the largest in bytes, how many versions are kept; and the trees in memory."""

    live: LiveTrees
    html_bytes: int = 1_000_000
    versions: int = 1000


@dataclass(frozen=True, slots=True)
class Author:
    """Who makes a change: a run at a step, or a person (`by`, also the user for whom a run works)."""

    run_id: str | None = None
    step: int | None = None
    by: str | None = None


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of a change: the page's version after it, events for the run's log (none where nothing changed),
    problems for the agent, and how many patches were applied, how many of them or of whole pages replaced it all, and
    how many were refused."""

    version: int
    events: tuple[tuple[str, Any], ...] = ()
    problems: tuple[str, ...] = ()
    patches: int = 0
    replaced: int = 0
    refused: int = 0


def take_patches(tx: Tx, page_id: str, rules: Rules, patches: Sequence[Patch], author: Author) -> Taken:
    """Apply patches in order; those that do not fit are refused one by one, with the reason. One version for all."""
    raise NotImplementedError


def take_full(tx: Tx, page_id: str, rules: Rules, html: str, author: Author) -> Taken:
    """Put other HTML in the place of the whole page."""
    raise NotImplementedError


def reset_step(tx: Tx, page_id: str, rules: Rules, run_id: str, step: int) -> tuple[tuple[str, Any], ...]:
    """Take back what a step did: its versions go, their numbers are used again. Empty: it did nothing. Repeatable."""
    raise NotImplementedError


def begin(
    tx: Tx, page_id: str, rules: Rules, html: str, *, kind: str = "created", by: str | None = None
) -> Taken:
    """The first HTML of a new page (`created`, or `copy` of another); its events are to be told by nobody."""
    raise NotImplementedError


def undo(tx: Tx, page_id: str, rules: Rules, by: str) -> int:
    """Take back the changes of the last run, or the last change that a person made; again: the one before. The page's
    new version, told in the thread's log. Raises `NothingToUndo`."""
    raise NotImplementedError


def restore(tx: Tx, page_id: str, rules: Rules, version: int, by: str) -> int:
    """Make an earlier version the newest. Its number; the same where it is the page already. Raises `NotFound`."""
    raise NotImplementedError


def list_versions(
    tx: Tx, page_id: str, before: int | None, limit: int
) -> tuple[list[PageVersion], int | None]:
    """At most `limit` of a page's versions, newest first, those before `before`; and what to ask older ones with."""
    raise NotImplementedError


def html_at(tx: Tx, page_id: str, version: int) -> str:
    """A page's HTML as it was. Raises `NotFound`: it never was, or is not kept any more."""
    raise NotImplementedError


def version_of(tx: Tx, page_id: str, version: int) -> PageVersion:
    """One line of the history. Raises `NotFound`."""
    raise NotImplementedError


def changed_by(tx: Tx, page_id: str, run_id: str) -> list[PageVersion]:
    """The versions that a run made, oldest first."""
    raise NotImplementedError

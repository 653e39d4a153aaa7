"""The history of pages: store changes as versions, undo, restore, and read earlier versions. First argument: the open
transaction, second the page's id.

Each accepted change makes the next version, in the caller's transaction, with the page's row held. A run's changes are
returned as events for its log; a person's are published in the thread's log here. A whole page is stored with every
25th version and wherever patches cannot express it, so that any version is read by applying a few patches.
"""

from collections.abc import Sequence
from dataclasses import field
from typing import Any, Final, Literal, NamedTuple

import sqlalchemy as sa

from outlast.apps.pages.apply import apply_patches
from outlast.apps.pages.clean_cache import CleanPages
from outlast.apps.pages.refusals import Refused, too_large
from outlast.apps.pages.rows import PageRow, PageVersionRow
from outlast.apps.pages.shapes import HtmlReason, PageHtml, PagePatched, PageVersion, Patch, VersionKind
from outlast.apps.pages.store import hold, page_of, update, without_html
from outlast.apps.pages.tables import page_versions
from outlast.apps.pages.tree import Tree
from outlast.apps.pages.tree_cache import LiveTrees
from outlast.apps.pages.version_summary import summary_of
from outlast.base.errors import MalformedInput, NotFound, NothingToUndo
from outlast.base.records import dataclass
from outlast.db.database import Tx
from outlast.kernel.lists import Listed
from outlast.kernel.row_shapes import shape_of
from outlast.kernel.streams.log_store import append

WHOLE_EVERY: Final = 25
SUMMARY_CHARS: Final = 200
_MINE: Final = page_versions.c.page_id == sa.bindparam("page")
_LATER: Final = sa.delete(page_versions).where(_MINE, page_versions.c.version > sa.bindparam("after"))
_LISTED: Final = sa.select(*without_html(page_versions))
_WHOLE: Final = sa.select(sa.func.max(page_versions.c.version)).where(
    _MINE, page_versions.c.version <= sa.bindparam("version"), page_versions.c.html.is_not(None)
)


@dataclass(frozen=True, slots=True)
class Rules:
    """The limits of pages: the largest in bytes, the number of stored versions; and the cached trees and clean
    pages."""

    live: LiveTrees
    html_bytes: int = 1_000_000
    versions: int = 1000
    clean: CleanPages = field(default_factory=CleanPages, init=False)


class Author(NamedTuple):
    """The author of a change: a run at a step, or a person (`by`, also the user for whom a run works)."""

    run_id: str | None = None
    step: int | None = None
    by: str | None = None


@dataclass(frozen=True, slots=True)
class Taken:
    """The result of a change: the page's version after it, events for the run's log (none if nothing changed),
    problems for the agent, and the numbers of applied patches, of those or whole pages that replaced everything, and
    of refused ones."""

    version: int
    events: tuple[tuple[str, Any], ...] = ()
    problems: tuple[str, ...] = ()
    patches: int = 0
    replaced: int = 0
    refused: int = 0


def take_patches(tx: Tx, page_id: str, rules: Rules, patches: Sequence[Patch], author: Author) -> Taken:
    """Apply patches in order; those that do not fit are refused one by one, with the reason. One version for all."""
    page = hold(tx, page_id)
    tree = rules.live.borrow(page_id, page.html) or Tree(page.html)
    applied = apply_patches(tree, patches)
    html = tree.html()
    version, size = page.version, len(html.encode())
    if size > rules.html_bytes:
        return Taken(version, problems=(too_large(size, rules.html_bytes),), refused=len(patches))
    rules.live.give_back(page_id, html, tree)
    if not applied.patches:
        return Taken(version, problems=applied.problems, refused=applied.refused)
    _add(tx, page, rules, "patches", html, author, patches=applied.patches)
    told = PagePatched(
        page_id=page_id,
        base_version=version,
        version=version + 1,
        patches=list(applied.patches),
        run_id=author.run_id,
        step=author.step,
    )
    replaced = sum(patch.at == "page" and patch.op == "html" for patch in applied.patches)
    return Taken(
        version + 1, (("page.patch", told),), applied.problems, len(applied.patches), replaced, applied.refused
    )


def take_full(tx: Tx, page_id: str, rules: Rules, html: str, author: Author) -> Taken:
    """Replace the whole page by other HTML."""
    page = hold(tx, page_id)
    version = page.version
    try:
        clean, told = rules.clean.take(html, rules.html_bytes)
    except Refused as reason:
        return Taken(version, problems=(f"The whole page was rejected: {reason}.",), refused=1)
    problems = tuple(f"A part of the whole page was left out: {one}." for one in told)
    if clean == page.html:
        return Taken(version, problems=problems)
    _add(tx, page, rules, "full", clean, author)
    event = _html_event(page_id, version + 1, clean, "full", author)
    return Taken(version + 1, (event,), problems, replaced=1)


def reset_step(tx: Tx, page_id: str, run_id: str, step: int) -> tuple[tuple[str, Any], ...]:
    """Undo a step: its versions are removed, their numbers are used again. Empty if it changed nothing. Repeatable."""
    page = hold(tx, page_id)
    base, _ = span_of(tx, page_id, run_id, step)
    if base is None:
        return ()
    html = html_at(tx, page_id, base)
    tx.execute(_LATER, {"page": page_id, "after": base})
    update(tx, page.id, html=html, version=base)
    return (_html_event(page_id, base, html, "reset", Author(run_id, step)),)


def begin(
    tx: Tx, page_id: str, rules: Rules, html: str, *, kind: VersionKind = "created", by: str | None = None
) -> None:
    """Store the first HTML of a new page (`created`, or `copy` of another), without an event. Raises
    `MalformedInput` if it is too large or cannot be a page."""
    page = hold(tx, page_id)
    try:
        clean, _ = rules.clean.take(html, rules.html_bytes)
    except Refused as reason:
        raise MalformedInput(f"The page's HTML was rejected: {reason}.", field="html") from None
    _add(tx, page, rules, kind, clean, Author(by=by))


def undo(tx: Tx, page_id: str, rules: Rules, by: str) -> int:
    """Undo the changes of the last run, or the last change by a person; repeat for earlier ones. Returns the page's
    new version, published in the thread's log. Raises `NothingToUndo`."""
    page = hold(tx, page_id)
    last = _row(tx, page_id, page.version)
    while last is not None and last.kind == "undo":  # continue with the version that it went back to
        last = _row(tx, page_id, last.base_version)
    if last is None or last.kind in ("created", "copy"):
        raise NothingToUndo("There is nothing left to undo on this page.", page_id=page_id)
    base = last.version - 1  # a person's change counts alone
    if last.run_id is not None:
        base = span_of(tx, page_id, last.run_id).base or 0
    try:
        return _go_back(tx, page, rules, "undo", base, by)
    except NotFound:
        raise NothingToUndo("The earlier version of the page is no longer stored.", page_id=page_id) from None


def restore(tx: Tx, page_id: str, rules: Rules, version: int, by: str) -> int:
    """Make an earlier version the newest. Returns its number; the same if it is the current page. Raises `NotFound`."""
    page = hold(tx, page_id)
    if html_at(tx, page_id, version) == page.html:
        return int(page.version)
    return _go_back(tx, page, rules, "restore", version, by)


def list_versions(tx: Tx, page_id: str, before: int | None, limit: int) -> Listed[PageVersion, int]:
    """At most `limit` of a page's versions, newest first, those before `before`."""
    chosen = _LISTED.where(page_versions.c.page_id == page_id)
    if before is not None:
        chosen = chosen.where(page_versions.c.version < before)
    rows = tx.rows(PageVersionRow, chosen.order_by(page_versions.c.version.desc()).limit(limit + 1))
    return Listed([_data(row) for row in rows[:limit]], rows[limit - 1].version if len(rows) > limit else None)


def html_at(tx: Tx, page_id: str, version: int) -> str:
    """A page's HTML at a version; version 0 is the empty page. Raises `NotFound` if the version never existed or is no
    longer stored."""
    page = page_of(tx, page_id)
    if version == page.version:
        return str(page.html)
    if not 0 <= version < page.version:
        raise _no_version(page_id, version)
    whole = tx.execute(_WHOLE, {"page": page_id, "version": version}).scalar() or 0
    rows = tx.rows(
        PageVersionRow,
        sa.select(page_versions)
        .where(page_versions.c.page_id == page_id, page_versions.c.version.between(whole, version))
        .order_by(page_versions.c.version),
    )
    # Versions before the oldest stored one are gone; the empty page is known as long as the first one is stored.
    needed = list(range(whole or 1, version + 1))
    if [row.version for row in rows] != needed or (not needed and _row(tx, page_id, 1) is None):
        raise _no_version(page_id, version)
    return _folded(rows)


def version_of(tx: Tx, page_id: str, version: int) -> PageVersion:
    """One entry of the history. Raises `NotFound`."""
    row = _row(tx, page_id, version)
    if row is None:
        raise _no_version(page_id, version)
    return _data(row)


def _folded(rows: Sequence[PageVersionRow]) -> str:
    if rows and rows[-1].html is not None:
        return str(rows[-1].html)
    tree = Tree()
    for row in rows:
        if row.html is not None:
            tree = Tree(row.html)
        else:
            apply_patches(tree, [Patch(**patch) for patch in row.patches])
    return tree.html()


def _go_back(tx: Tx, page: PageRow, rules: Rules, kind: Literal["undo", "restore"], base: int, by: str) -> int:
    html = html_at(tx, page.id, base)
    version = _add(tx, page, rules, kind, html, Author(by=by), base=base)
    append(tx, page.thread_id, [_html_event(page.id, version, html, kind, Author(by=by))])
    return version


class Span(NamedTuple):
    """The changes of a run to a page: from the version `base` to `last`, or None if it changed nothing."""

    base: int | None
    last: int | None


def span_of(tx: Tx, page_id: str, run_id: str, step: int | None = None) -> Span:
    """The span of a run, or of one of its steps."""
    made = sa.select(
        sa.func.min(page_versions.c.base_version).label("base"), sa.func.max(page_versions.c.version).label("last")
    ).where(page_versions.c.page_id == page_id, page_versions.c.run_id == run_id)
    return tx.row(Span, made if step is None else made.where(page_versions.c.step == step)) or Span(None, None)


def describe(tx: Tx, page_id: str, run_id: str, summary: str) -> None:
    """Set the summary of a run's last change in the history to the agent's own, on one line of at most 200
    characters. Does nothing without changes of this run."""
    _, version = span_of(tx, page_id, run_id)
    line = " ".join(summary.split())
    if version is not None and line:
        short = line if len(line) <= SUMMARY_CHARS else f"{line[: SUMMARY_CHARS - 1]}…"
        tx.update(page_versions, {"page_id": page_id, "version": version}, summary=short)


def _add(
    tx: Tx,
    page: PageRow,
    rules: Rules,
    kind: VersionKind,
    html: str,
    author: Author,
    *,
    patches: Sequence[Patch] = (),
    base: int | None = None,
) -> int:
    """Store the next version and the new page. Returns its number."""
    version = int(page.version) + 1
    whole = kind != "patches" or version % WHOLE_EVERY == 0
    _trim(tx, page.id, rules, version, author)
    tx.insert(
        page_versions,
        page_id=page.id,
        version=version,
        base_version=version - 1 if base is None else base,
        kind=kind,
        patches=[patch.model_dump(exclude_none=True) for patch in patches] if patches else None,
        html=html if whole else None,
        summary=summary_of(kind, patches, base),
        created_at=tx.now,
        **author._asdict(),
    )
    update(tx, page.id, html=html, version=version, active_at=tx.now)
    return version


def _trim(tx: Tx, page_id: str, rules: Rules, version: int, author: Author) -> None:
    """Remove the oldest versions, up to a whole one; never in the middle of a step, which may have to be
    undone."""
    if version <= rules.versions:
        return
    last = _row(tx, page_id, version - 1)
    if last is not None and author.run_id is not None and last.run_id == author.run_id:
        return
    oldest = tx.execute(_WHOLE, {"page": page_id, "version": version - rules.versions}).scalar()
    if oldest is not None:
        gone = page_versions.c.page_id == page_id, page_versions.c.version < oldest
        tx.execute(sa.delete(page_versions).where(*gone))


def _row(tx: Tx, page_id: str, version: int) -> PageVersionRow | None:
    return tx.find(PageVersionRow, page_versions, {"page_id": page_id, "version": version})


def _html_event(page_id: str, version: int, html: str, reason: HtmlReason, author: Author) -> tuple[str, PageHtml]:
    return "page.html", PageHtml(page_id=page_id, version=version, html=html, reason=reason, **author._asdict())


def _data(row: PageVersionRow) -> PageVersion:
    return shape_of(PageVersion, row, patches=len(row.patches or ()))


def _no_version(page_id: str, version: int) -> NotFound:
    return NotFound(f"This page has no version {version}, or it is no longer stored.", page_id=page_id, version=version)

"""The history of pages: taking changes as versions, going back, and what a page was. First argument: the open
transaction, second the page's id.

Each taken change makes the next version, in the caller's transaction, with the page's row held. A run's changes are
returned as events for its log; a person's are told in the thread's log here. A whole page is stored with every 25th
version and wherever patches do not say it, so that any version is read by applying a few patches.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

import sqlalchemy as sa

from outlast.apps.pages.apply import apply_patches
from outlast.apps.pages.clean_cache import CleanPages
from outlast.apps.pages.problems import Refused, summary_of, too_large
from outlast.apps.pages.rows import PageRow, PageVersionRow
from outlast.apps.pages.shapes import HtmlReason, PageHtml, PagePatched, PageVersion, Patch, VersionKind
from outlast.apps.pages.store import hold, page_of, update, without_html
from outlast.apps.pages.tables import page_versions
from outlast.apps.pages.tree import Tree
from outlast.apps.pages.tree_cache import LiveTrees
from outlast.base.errors import MalformedInput, NotFound, NothingToUndo
from outlast.db.database import Tx
from outlast.kernel.lists import Listed
from outlast.kernel.row_shapes import shape_of
from outlast.kernel.streams.log import append

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
    """What bounds pages: the largest in bytes, how many versions are kept; and the trees and clean pages in memory."""

    live: LiveTrees
    html_bytes: int = 1_000_000
    versions: int = 1000
    clean: CleanPages = field(default_factory=CleanPages, init=False)


class Author(NamedTuple):
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
    """Put other HTML in the place of the whole page."""
    page = hold(tx, page_id)
    version = page.version
    try:
        clean, told = rules.clean.take(html, rules.html_bytes)
    except Refused as reason:
        return Taken(version, problems=(f"The whole page was not taken: {reason}.",), refused=1)
    problems = tuple(f"Of the whole page something was left out: {one}." for one in told)
    if clean == page.html:
        return Taken(version, problems=problems)
    _add(tx, page, rules, "full", clean, author)
    event = _html_event(page_id, version + 1, clean, "full", author)
    return Taken(version + 1, (event,), problems, replaced=1)


def reset_step(tx: Tx, page_id: str, run_id: str, step: int) -> tuple[tuple[str, Any], ...]:
    """Take back what a step did: its versions go, their numbers are used again. Empty: it did nothing. Repeatable."""
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
    """The first HTML of a new page (`created`, or `copy` of another), without an event. Raises
    `MalformedInput`: it is too large, or nothing that a page can be."""
    page = hold(tx, page_id)
    try:
        clean, _ = rules.clean.take(html, rules.html_bytes)
    except Refused as reason:
        raise MalformedInput(f"The page's HTML was not taken: {reason}.", field="html") from None
    _add(tx, page, rules, kind, clean, Author(by=by))


def undo(tx: Tx, page_id: str, rules: Rules, by: str) -> int:
    """Take back the changes of the last run, or the last change that a person made; again: the one before. The page's
    new version, told in the thread's log. Raises `NothingToUndo`."""
    page = hold(tx, page_id)
    last = _row(tx, page_id, page.version)
    while last is not None and last.kind == "undo":  # what it came back to is what is taken back next
        last = _row(tx, page_id, last.base_version)
    if last is None or last.kind in ("created", "copy"):
        raise NothingToUndo("Nothing that was done on this page is left to take back.", page_id=page_id)
    base = last.version - 1  # a person's change is one by itself
    if last.run_id is not None:
        base = span_of(tx, page_id, last.run_id).base or 0
    try:
        return _go_back(tx, page, rules, "undo", base, by)
    except NotFound:
        raise NothingToUndo("What the page was before is not kept any more.", page_id=page_id) from None


def restore(tx: Tx, page_id: str, rules: Rules, version: int, by: str) -> int:
    """Make an earlier version the newest. Its number; the same where it is the page already. Raises `NotFound`."""
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
    """A page's HTML as it was; version 0 is the empty page. Raises `NotFound`: it never was, or is not kept any
    more."""
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
    # Those before the oldest that is kept are gone; the empty page is known as long as the first one is.
    needed = list(range(whole or 1, version + 1))
    if [row.version for row in rows] != needed or (not needed and _row(tx, page_id, 1) is None):
        raise _no_version(page_id, version)
    return _folded(rows)


def version_of(tx: Tx, page_id: str, version: int) -> PageVersion:
    """One line of the history. Raises `NotFound`."""
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
    """What a run made of a page: from the version `base` to `last`. None: it changed nothing."""

    base: int | None
    last: int | None


def span_of(tx: Tx, page_id: str, run_id: str, step: int | None = None) -> Span:
    """Of a run, or of one of its steps."""
    made = sa.select(
        sa.func.min(page_versions.c.base_version).label("base"), sa.func.max(page_versions.c.version).label("last")
    ).where(page_versions.c.page_id == page_id, page_versions.c.run_id == run_id)
    return tx.row(Span, made if step is None else made.where(page_versions.c.step == step)) or Span(None, None)


def describe(tx: Tx, page_id: str, run_id: str, summary: str) -> None:
    """Let the history say of a run's last change what its agent said it has done, on one line of at most 200
    characters. Without changes of this run nothing happens."""
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
    """Store the next version, and the page as it is then. Its number."""
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
    """Let the oldest versions go, from a whole one down; never in the middle of a step, which may have to be taken
    back."""
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
    return NotFound(
        f"There is no version {version} of this page, or it is not kept any more.", page_id=page_id, version=version
    )

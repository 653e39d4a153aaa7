"""The files of a screen: list, read, search, pack, and the changes of a run. No action wakes a sandbox."""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Final, TypeVar

import anyio.to_thread

from outlast.apps.screens.file_search import MAX_HITS, SEARCHED_BYTES, checked_query, hits_in, is_searched
from outlast.apps.screens.rows import ScreenRow
from outlast.apps.screens.shapes import (
    CodeHitAnswer,
    FileChangeAnswer,
    HitsAnswer,
    ScreenChangesAnswer,
    ScreenFileAnswer,
    ScreenFilesAnswer,
)
from outlast.apps.screens.store import require_screen
from outlast.apps.screens.zip_archive import archive_name, is_packed, is_shown, packed
from outlast.base.errors import NotFound, PathRefused, SandboxLost
from outlast.base.records import dataclass
from outlast.db.blobs.port import Blobs
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.lists import Listed
from outlast.kernel.projects.rules import Right
from outlast.kernel.runs.tables import runs
from outlast.kernel.sandboxes.actions import awake_sandbox
from outlast.kernel.sandboxes.checkpoints import store
from outlast.kernel.sandboxes.checkpoints.actions import keeper_of, list_of_thread
from outlast.kernel.sandboxes.checkpoints.contents import (
    MAX_FILE_BYTES,
    MAX_FILES,
    beginning_of,
    content_of,
    shown_name,
)
from outlast.kernel.sandboxes.checkpoints.shapes import CheckpointData
from outlast.kernel.services import Services
from outlast.kernel.subjects.new_subject import save_files
from outlast.kernel.threads.tables import messages
from outlast_sandbox.checkpoints.tree import Entry, Tree
from outlast_sandbox.checkpoints.tree_diff import TEXT_BYTES, Change, changes, is_text
from outlast_sandbox.interface import Sandbox

T = TypeVar("T")

MAX_CHANGES: Final = 500
MAX_TEXT_BYTES: Final = 4_000_000  # of one answer about changes


@dataclass(frozen=True, slots=True)
class Archive:
    """A ZIP, piece by piece, and what it is called."""

    name: str
    pieces: Iterator[bytes]


async def list_files(services: Services, actor: Actor, screen_id: str) -> ScreenFilesAnswer:
    """The app's own files (members)."""
    row = await services.db.read(require_screen, actor, screen_id, Right.READ)
    listed = await _ask_awake_sandbox(services, row.workspace_id, lambda sandbox: sandbox.list_files("", MAX_FILES))
    if listed is not None and len(listed) < MAX_FILES:  # one that was cut may hold nothing but installed packages
        files = [ScreenFileAnswer(path=shown_name(file.path), size=file.size) for file in listed if not file.is_dir]
        newest = await services.db.read(store.newest_of, row.workspace_id)
        return _listed(files, newest, live=True)
    newest, tree = await _newest_tree(services, row.workspace_id)
    entries = (entry for entry in tree.entries if entry.kind == "file")
    return _listed(
        [ScreenFileAnswer(path=shown_name(entry.path), size=entry.size) for entry in entries], newest, live=False
    )


async def read_file(services: Services, actor: Actor, screen_id: str, path: str) -> bytes:
    """A file's first 5 MB (members). Raises `NotFound`, `PathRefused`."""
    row = await services.db.read(require_screen, actor, screen_id, Right.READ)
    content = await _ask_awake_sandbox(
        services, row.workspace_id, lambda sandbox: sandbox.read_file(path, MAX_FILE_BYTES)
    )
    if content is not None:
        return content
    _, tree = await _newest_tree(services, row.workspace_id)
    entry = _entry(tree, path)
    return await anyio.to_thread.run_sync(beginning_of, services.blobs, entry, MAX_FILE_BYTES)


async def search_files(services: Services, actor: Actor, screen_id: str, query: str, limit: int = 100) -> HitsAnswer:
    """Lines of the app's own text files up to a megabyte that hold the query, whatever the case of its letters
    (members). Raises `MalformedInput`."""
    wanted = checked_query(query)
    row = await services.db.read(require_screen, actor, screen_id, Right.READ)
    tree = await _save_and_load_tree(services, row.workspace_id)
    look = partial(_search, services.blobs, tree, wanted, min(limit, MAX_HITS))
    return await anyio.to_thread.run_sync(look)


async def pack(services: Services, actor: Actor, screen_id: str) -> Archive:
    """The app as a ZIP that runs elsewhere: without installed packages, caches and what looks like a secret
    (members)."""
    row = await services.db.read(require_screen, actor, screen_id, Right.READ)
    tree = await _save_and_load_tree(services, row.workspace_id)
    name = archive_name(row.title)
    entries = [entry for entry in tree.entries if entry.kind == "file" and is_packed(entry.path)]
    files = ((shown_name(entry.path), content_of(services.blobs, entry)) for entry in entries)
    return Archive(f"{name}.zip", packed(name, files))


async def list_checkpoints(
    services: Services, actor: Actor, screen_id: str, before: str | None = None, limit: int = 50
) -> Listed[CheckpointData, str]:
    """The screen's files as they were, newest first (members)."""
    row = await services.db.read(require_screen, actor, screen_id, Right.READ)
    return await list_of_thread(services, actor, row.thread_id, before, limit)


async def changes_of_run(
    services: Services, actor: Actor, screen_id: str, run_id: str | None = None
) -> ScreenChangesAnswer:
    """What a run has changed so far, or had when it ended (members); without one, the last that changed something.
    Raises `NotFound` for a run of another thread."""
    row = await services.db.read(require_screen, actor, screen_id, Right.READ)
    keeper = keeper_of(services)
    await keeper.settled(row.workspace_id)
    wanted, before, after = await services.db.read(_span, row, run_id)
    if after is None:
        return ScreenChangesAnswer(run_id=wanted, before=None, after=None, items=[], truncated=False)
    old, new = await keeper.tree(before), await keeper.tree(after)
    differing = [change for change in changes(old, new) if is_shown(change.path) and _is_file(change)]
    items = await anyio.to_thread.run_sync(with_texts, services.blobs, differing[:MAX_CHANGES])
    return ScreenChangesAnswer(
        run_id=wanted, before=before, after=after, items=items, truncated=len(differing) > MAX_CHANGES
    )


def _listed(files: Iterable[ScreenFileAnswer], checkpoint: CheckpointData | None, *, live: bool) -> ScreenFilesAnswer:
    """The app's own files among these, at most `MAX_FILES`."""
    own = sorted((file for file in files if is_shown(file.path)), key=lambda file: file.path)
    return ScreenFilesAnswer(
        items=own[:MAX_FILES],
        checkpoint_id=None if checkpoint is None else checkpoint.id,
        live=live,
        truncated=len(own) > MAX_FILES,
    )


async def _ask_awake_sandbox(services: Services, workspace_id: str, ask: Callable[[Sandbox], Awaitable[T]]) -> T | None:
    """The awake sandbox's answer, or None if it sleeps or has just been lost."""
    sandbox = await awake_sandbox(services, workspace_id)
    with suppress(SandboxLost):
        return None if sandbox is None else await ask(sandbox)
    return None


async def _newest_tree(services: Services, workspace_id: str) -> tuple[CheckpointData | None, Tree]:
    """The newest checkpoint of files that no run is changing now, and its tree."""
    keeper = keeper_of(services)
    newest = await keeper.current(workspace_id)
    return newest, await keeper.tree(newest)


async def _save_and_load_tree(services: Services, workspace_id: str) -> Tree:
    """The files as they are now, or, while a run changes them, as they were after its last tool call."""
    keeper = keeper_of(services)
    await save_files(services, workspace_id)
    await keeper.settled(workspace_id)
    return await keeper.tree(await services.db.read(store.newest_of, workspace_id))


def _entry(tree: Tree, path: str) -> Entry:
    if path.startswith("/") or ".." in path.split("/"):
        raise PathRefused(f"The path {path!r} is not relative to the app, or holds '..'.", path=path)
    entry = tree.by_path.get("/".join(part for part in path.split("/") if part not in ("", ".")))
    if entry is None:
        raise NotFound(f"There is no file {path!r}.", path=path)
    if entry.kind != "file":
        raise PathRefused(f"{path!r} is not a regular file.", path=path)
    return entry


def _search(blobs: Blobs, tree: Tree, query: str, limit: int) -> HitsAnswer:
    hits: list[CodeHitAnswer] = []
    for entry in tree.entries:
        if entry.kind != "file" or not 0 < entry.size <= SEARCHED_BYTES or not is_searched(entry.path):
            continue
        hits += islice(hits_in(shown_name(entry.path), content_of(blobs, entry), query), limit + 1 - len(hits))
        if len(hits) > limit:
            break
    return HitsAnswer(items=hits[:limit], truncated=len(hits) > limit)


def _span(
    tx: Tx, row: ScreenRow, run_id: str | None
) -> tuple[str | None, CheckpointData | None, CheckpointData | None]:
    wanted = run_id or store.last_run(tx, row.workspace_id)
    if wanted is None:
        return None, None, None
    if run_id is not None and not _belongs(tx, row.thread_id, run_id):
        raise NotFound("This screen has no such run.", id=run_id)
    return wanted, *store.span_of(tx, row.workspace_id, row.thread_id, wanted)


def _belongs(tx: Tx, thread_id: str, run_id: str) -> bool:
    """Whether it is a run of the thread, or of the one whose messages were copied into it."""
    of_thread = tx.exists(runs, {"id": run_id, "thread_id": thread_id})
    return of_thread or tx.exists(messages, {"thread_id": thread_id, "run_id": run_id})


def _is_file(change: Change) -> bool:
    return any(side is not None and side.kind == "file" for side in (change.before, change.after))


def with_texts(blobs: Blobs, differing: Sequence[Change]) -> list[FileChangeAnswer]:
    """The changes with both texts of each file, until these take `MAX_TEXT_BYTES`. Blocks."""
    budget_bytes, answers = MAX_TEXT_BYTES, []
    for change in differing:
        texts: list[str | None] = []
        for entry in (change.before, change.after):
            text = _text(blobs, entry, budget_bytes)
            budget_bytes -= entry.size if entry is not None and text is not None else 0
            texts.append(text)
        before, after = texts
        answers.append(
            FileChangeAnswer(
                path=shown_name(change.path),
                status=change.kind,
                before=before,
                after=after,
                before_bytes=None if change.before is None else change.before.size,
                after_bytes=None if change.after is None else change.after.size,
            )
        )
    return answers


def _text(blobs: Blobs, entry: Entry | None, max_bytes: int) -> str | None:
    if entry is None or entry.kind != "file" or entry.size > min(TEXT_BYTES, max_bytes):
        return None
    content = content_of(blobs, entry)
    return content.decode() if is_text(content) else None

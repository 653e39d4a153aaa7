"""Edit a screen's app by hand: list the editable values of an element, save edits in its source, undo them; CSS
as the Tailwind classes of its own project."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial

import anyio.to_thread

from outlast.apps.screens import store
from outlast.apps.screens.design_systems import DesignSystems, Sheet, sheet_name
from outlast.apps.screens.edits.apply import Batch
from outlast.apps.screens.edits.design_system import SHEETS
from outlast.apps.screens.edits.elements import read_elements
from outlast.apps.screens.edits.marks import parse_mark
from outlast.apps.screens.edits.picture_paths import picture_address, picture_path
from outlast.apps.screens.edits.shapes import (
    MAX_CLASSES,
    MAX_EDITS,
    MAX_ELEMENTS,
    MAX_STYLES,
    EditRequest,
    EditsAnswer,
    ElementAnswer,
    PictureAnswer,
    StylesAnswer,
    StylesRequest,
    UndoAnswer,
)
from outlast.apps.screens.edits.styles import to_classes
from outlast.apps.screens.file_actions import read_file
from outlast.apps.screens.file_writer import rewrite
from outlast.apps.screens.shapes import ScreenData
from outlast.apps.screens.store import require_screen
from outlast.base.errors import FilesChanged, MalformedInput, NotFound, OutlastError, PathRefused
from outlast.db.blobs.port import Blobs
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.attachments.rows import AttachmentRow
from outlast.kernel.attachments.tables import attachments
from outlast.kernel.limits.rules import check_count
from outlast.kernel.locks import thread_locks
from outlast.kernel.projects.permissions import require_checkpoint, require_owned
from outlast.kernel.projects.rules import Right
from outlast.kernel.sandboxes.actions import awake_sandbox
from outlast.kernel.sandboxes.checkpoints import store as checkpoints
from outlast.kernel.sandboxes.checkpoints.actions import keeper_of
from outlast.kernel.sandboxes.checkpoints.contents import content_of
from outlast.kernel.sandboxes.checkpoints.shapes import CheckpointData
from outlast.kernel.services import Services
from outlast_sandbox.checkpoints.tree import Tree
from outlast_sandbox.checkpoints.tree_diff import changes
from outlast_sandbox.checkpoints.tree_edits import Edit as FileEdit


async def inspect_elements(
    services: Services, actor: Actor, screen_id: str, locs: Sequence[str]
) -> list[ElementAnswer]:
    """The source values of each element, and which of them can be edited by hand (members). Raises
    `InputTooLarge` for more than a hundred."""
    check_count("elements", len(locs), MAX_ELEMENTS)
    await services.db.read(require_screen, actor, screen_id, Right.READ)
    files = {}
    for path in _paths(locs):
        with suppress(NotFound, PathRefused):  # reported for each element
            files[path] = await read_file(services, actor, screen_id, path)
    return await anyio.to_thread.run_sync(read_elements, files, locs)


async def save_edits(services: Services, actor: Actor, screen_id: str, edits: Sequence[EditRequest]) -> EditsAnswer:
    """Make edits in the source (editors; refused if another member holds the lock): each is applied, refused or stale
    on its own; applied ones are written together, and stored as one checkpoint. Repeating is harmless: a value that is
    there already counts as applied. Raises `ThreadBusy` while a run works on the screen or waits for a person,
    `ThreadLocked`, `InputTooLarge`, `DiskFull`; then nothing was changed."""
    check_count("edits", len(edits), MAX_EDITS)
    screen = await services.db.read(_may_edit, actor, screen_id)
    batch = Batch(edits)
    saved = await _save(services, actor, screen, batch.by_file())
    return EditsAnswer(results=batch.results(), checkpoint_id=saved)


async def undo_edits(services: Services, actor: Actor, screen_id: str, checkpoint_id: str) -> UndoAnswer:
    """Undo the edits of this checkpoint (editors, as in `save_edits`), all or nothing. Repeating is
    harmless. Raises `FilesChanged` when one of the files has been changed since, and as `save_edits`."""

    def find(tx: Tx) -> tuple[ScreenData, CheckpointData, CheckpointData | None]:
        screen = _may_edit(tx, actor, screen_id)
        saved = checkpoints.to_data(require_checkpoint(tx, actor, checkpoint_id, Right.EDIT))
        if saved.workspace_id != screen.workspace_id or saved.reason != "person":
            raise MalformedInput(
                "This checkpoint has no manual edits of this screen.",
                hint="Give the `checkpoint_id` that saving the edits returned.",
                field="checkpoint_id",
            )
        return screen, saved, checkpoints.before(tx, saved)

    screen, saved, before = await services.db.read(find)
    keeper = keeper_of(services)
    old, new = await keeper.tree(before), await keeper.tree(saved)
    wanted = await anyio.to_thread.run_sync(_back, services.blobs, old, new)
    return UndoAnswer(paths=sorted(wanted), checkpoint_id=await _save(services, actor, screen, wanted))


async def map_styles(services: Services, actor: Actor, screen_id: str, asked: StylesRequest) -> StylesAnswer:
    """Classes for CSS declarations (`exact`: with these values), and the CSS of classes (editors): as declarations
    (empty if it has states or several rules), or None if the project has no such class; a class that could not be
    looked up is missing. `design`: the project's own design system answered. No sandbox is woken: while it
    sleeps, cached answers of its design system are used, else arbitrary values. Raises `InputTooLarge`.
    Repeatable."""
    check_count("styles", len(asked.styles), MAX_STYLES)
    check_count("classes", len(asked.classes), MAX_CLASSES)
    row = await services.db.read(require_screen, actor, screen_id, Right.EDIT)
    sandbox = await awake_sandbox(services, row.workspace_id)
    content = await _style_sheet(services, actor, screen_id)
    sheet = Sheet(sheet_name(row.project_id, content), sandbox)
    table = await services.state(DesignSystems).table(sheet)
    mapped = to_classes(asked.styles, {} if asked.exact else table)
    said = await services.state(DesignSystems).say(sheet, asked.classes)
    known = {name: None if one is None else dict(one) for name, one in said.items()}
    return StylesAnswer(classes=mapped.classes, refused=mapped.refused, known=known, design=table is not None)


async def place_picture(services: Services, actor: Actor, screen_id: str, attachment_id: str) -> PictureAnswer:
    """Add an uploaded picture of the screen's project to the app's files (editors, as in `save_edits`), so that the
    app can show it wherever it runs. Repeating is harmless. Raises `NotFound`, and as `save_edits`."""

    def find(tx: Tx) -> tuple[ScreenData, AttachmentRow]:
        screen = _may_edit(tx, actor, screen_id)
        row = require_owned(tx, actor, AttachmentRow, attachments, "attachment", attachment_id, Right.READ)
        if row.project_id != screen.project_id or not row.media_type.startswith("image/"):
            raise NotFound("This project has no such picture.", id=attachment_id)
        return screen, row

    screen, row = await services.db.read(find)
    content = await anyio.to_thread.run_sync(services.blobs.get, row.blob)
    path = picture_path(row.name, row.media_type, row.blob)
    saved = await _save(services, actor, screen, {path: lambda _: content})
    return PictureAnswer(path=path, src=picture_address(path), checkpoint_id=saved)


async def _style_sheet(services: Services, actor: Actor, screen_id: str) -> bytes:
    for path in SHEETS:
        with suppress(NotFound, PathRefused):
            return await read_file(services, actor, screen_id, path)
    return b""


def _may_edit(tx: Tx, actor: Actor, screen_id: str) -> ScreenData:
    row = require_screen(tx, actor, screen_id, Right.EDIT)
    thread_locks.demand_not_locked(tx, row.thread_id, actor)
    return store.screen_data(tx, screen_id)


async def _save(services: Services, actor: Actor, screen: ScreenData, edits: Mapping[str, FileEdit]) -> str | None:
    """Write the files and announce the screen. Returns their checkpoint, or None if nothing had to change."""
    saved = await rewrite(services, screen, edits)
    if saved is None:
        return None
    await services.db.write(_tell, screen.id, actor)
    return saved.id


def _tell(tx: Tx, screen_id: str, actor: Actor) -> None:
    try:
        store.hold(tx, screen_id)
    except NotFound:  # deleted meanwhile
        return
    store.update(tx, screen_id)
    store.announce(tx, screen_id, by=actor.user_id)


def _paths(locs: Sequence[str]) -> list[str]:
    """The distinct files of these elements; an invalid place is reported later."""
    found = set()
    for loc in locs:
        with suppress(OutlastError):
            found.add(parse_mark(loc).path)
    return sorted(found)


def _back(blobs: Blobs, old: Tree, new: Tree) -> Mapping[str, FileEdit]:
    """For each file that differs between the two trees, the edit that undoes it. Added files stay: they are
    no longer referenced."""
    return {
        change.path: partial(_taken_back, change.path, content_of(blobs, before), content_of(blobs, after))
        for change in changes(old, new)
        if (before := change.before) is not None and (after := change.after) is not None
        if before.kind == after.kind == "file"
    }


def _taken_back(path: str, before: bytes, after: bytes, now: bytes | None) -> bytes | None:
    if now not in (before, after):
        raise FilesChanged(f"{path!r} has been changed since these edits were saved.", path=path)
    return before

"""Modules: reusable code that agents saved as files, described and found again. First argument: the open transaction.

Of scope `session` a row speaks of a file of its workspace, and is removed as soon as that file is nowhere any more. Of
scope `user` (published) the file lies in the blobs; whoever uses it gets it as `library/<path>` of the workspace.
"""

import logging
from collections.abc import Collection, Iterable, Sequence
from typing import Final, Protocol

import sqlalchemy as sa

from outlast.apps.knowledge.hits import ModuleText
from outlast.apps.knowledge.rows import ModuleRow
from outlast.apps.knowledge.store import TEXTS
from outlast.apps.knowledge.tables import modules, vectors
from outlast.base.errors import NotFound, OutlastError
from outlast.base.ids import new_id
from outlast.db.database import Database, Tx
from outlast.kernel.library.modules import Module, ModuleOrigin, NewModule, hash_of, searched_text

log = logging.getLogger("outlast.knowledge")
MOST_OF_A_WORKSPACE: Final = 200
MOST_OF_A_USER: Final = 500


class ModuleFiles(Protocol):
    """Who knows the files of workspaces."""

    async def holds(self, workspace_id: str, paths: Collection[str]) -> frozenset[str]:
        """Those of the paths that are files of the workspace, on its volume or in its newest checkpoint. No sandbox is
        woken."""


class Modules:
    """The shelf: modules that a run may use, without those whose files are gone. `files` None: this server has no
    sandboxes, so there are none. `dependencies`: the hash of what sandboxes have installed."""

    def __init__(self, db: Database, files: ModuleFiles | None, dependencies: str) -> None:
        self._db, self._files = db, files
        self.dependencies = dependencies

    def look_into(self, files: ModuleFiles) -> None:
        """From now on these files say which modules live."""
        self._files = files

    async def living(self, *, project_id: str, workspace_id: str | None, user_id: str | None) -> list[ModuleText]:
        """`usable` as search sees them: each path and usage as they are written in this workspace."""
        return [_searched(one, self.dependencies) for one in await self.usable(workspace_id, user_id)]

    async def usable(self, workspace_id: str | None, user_id: str | None) -> list[Module]:
        """Those of the workspace, then those published to the user, by path. Rows whose files have vanished are
        removed at once. Repeatable; a cancelled call may have removed them already."""
        if self._files is None:
            return []
        own = [] if workspace_id is None else await self._living(self._files, workspace_id)
        published = [] if user_id is None else await self._db.read(of_user, user_id)
        return [*own, *published]

    async def _living(self, files: ModuleFiles, workspace_id: str) -> list[Module]:
        """Those of a workspace. Where its files cannot be looked at, none are usable and none are forgotten."""
        own = await self._db.read(of_workspace, workspace_id)
        if not own:
            return []
        try:
            there = await files.holds(workspace_id, [module.path for module in own])
        except OutlastError as error:
            log.warning("modules not looked at", extra={"workspace_id": workspace_id, "code": error.code})
            return []
        gone = [module for module in own if module.path not in there]
        if gone:
            await self._db.write(remove_unchanged, gone)
        return [module for module in own if module.path in there]


def dependencies_hash(packages: Iterable[str], commands: Iterable[str] = ()) -> str:
    """Changes with what sandboxes have installed: parsed packages in any order, and the commands run after them."""
    return hash_of("\n".join([*sorted(set(packages)), "", *commands]))


# --- queries


def of_workspace(tx: Tx, workspace_id: str) -> list[Module]:
    """What was announced of a workspace's files, by path; whether they still exist is not looked at."""
    return _all(tx, modules.c.workspace_id == workspace_id, modules.c.scope == "session")


def of_user(tx: Tx, user_id: str) -> list[Module]:
    """What was published to a user, by path."""
    return _all(tx, modules.c.user_id == user_id, modules.c.scope == "user")


def module_of(tx: Tx, module_id: str) -> Module:
    """Raises `NotFound`."""
    row = tx.find(ModuleRow, modules, {"id": module_id})
    if row is None:
        raise NotFound("This module was deleted.", id=module_id)
    return _module(row)


def save(
    tx: Tx, announced: Sequence[NewModule], origin: ModuleOrigin, workspace_id: str, dependencies: str
) -> list[Module]:
    """Add the modules of a workspace, or replace what was said of the same paths before: the rows, in order."""
    known = {module.path: module for module in of_workspace(tx, workspace_id)}
    saved = []
    for one in announced:
        values = _said(one) | {
            "run_id": origin.run_id,
            "user_id": origin.user_id,
            "dependencies": dependencies if one.verified else None,
            "verified_at": tx.now if one.verified else None,
            "updated_at": tx.now,
        }
        before = known.get(one.path)
        if before is None and len(known) >= MOST_OF_A_WORKSPACE:
            continue
        module_id = before.id if before is not None else new_id("module")
        if before is not None:
            tx.update(modules, {"id": module_id}, **values)
        else:
            of = {"project_id": origin.project_id, "page_id": origin.page_id, "workspace_id": workspace_id}
            tx.insert(modules, id=module_id, scope="session", created_at=tx.now, **of, **values)
        known[one.path] = module_of(tx, module_id)
        saved.append(known[one.path])
    tx.ring(TEXTS)
    return saved


def publish(
    tx: Tx, announced: NewModule, origin: ModuleOrigin, published_by: str, blob: str, dependencies: str
) -> Module:
    """Put a module into a user's library, in the place of an earlier one with the same path. Its file must be stored
    under `blob` already."""
    values = _said(announced) | {
        "project_id": origin.project_id,
        "page_id": origin.page_id,
        "blob": blob,
        "content_hash": blob,
        "run_id": origin.run_id,
        "published_by": published_by,
        "dependencies": dependencies if announced.verified else None,
        "verified_at": tx.now if announced.verified else None,
        "updated_at": tx.now,
    }
    before = next((one for one in of_user(tx, origin.user_id) if one.path == announced.path), None)
    if before is not None:
        tx.update(modules, {"id": before.id}, **values)
        return module_of(tx, before.id)
    module_id = new_id("module")
    tx.insert(modules, id=module_id, user_id=origin.user_id, scope="user", created_at=tx.now, **values)
    tx.ring(TEXTS)
    return module_of(tx, module_id)


def mark_verified(tx: Tx, module_ids: Collection[str], dependencies: str) -> None:
    """Their import has just worked with these dependencies."""
    mine = modules.c.id.in_(sorted(module_ids))
    tx.execute(sa.update(modules).where(mine).values(dependencies=dependencies, verified_at=tx.now))


def remove(tx: Tx, module_ids: Collection[str]) -> None:
    """Forget modules. The files of a workspace stay; a published one's blob goes with the next collection."""
    tx.execute(sa.delete(modules).where(modules.c.id.in_(sorted(module_ids))))


def remove_unchanged(tx: Tx, seen: Iterable[Module]) -> None:
    """Forget modules, unless they were announced anew since they were read."""
    for one in seen:
        same = modules.c.id == one.id, modules.c.updated_at == one.updated_at
        tx.execute(sa.delete(modules).where(*same))


def without_vector(tx: Tx, model: str, limit: int) -> list[tuple[str, str]]:
    """(hash, text) of modules that have no vector of this model yet."""
    missing = ~sa.exists().where(vectors.c.model == model, vectors.c.hash == modules.c.hash)
    rows = tx.rows(ModuleRow, sa.select(modules).where(missing).order_by(modules.c.id).limit(limit))
    return [(row.hash, _module(row).text) for row in rows]


def _searched(one: Module, dependencies: str) -> ModuleText:
    return ModuleText(
        id=one.id,
        path=one.imported_path,
        description=one.description,
        exports=one.exports,
        usage=one.imported_usage,
        hash=one.hash,
        verified=one.verified(dependencies),
        updated_at=one.updated_at,
    )


def _all(tx: Tx, *where: sa.ColumnElement[bool]) -> list[Module]:
    rows = sa.select(modules).where(*where).order_by(modules.c.path, modules.c.id).limit(MOST_OF_A_USER)
    return [_module(row) for row in tx.rows(ModuleRow, rows)]


def _said(one: NewModule) -> dict[str, object]:
    return {
        "path": one.path,
        "description": one.description,
        "exports": list(one.exports),
        "usage": one.usage,
        "hash": hash_of(searched_text(one.path, one.description, one.exports, one.usage)),
        "content_hash": one.content_hash,
    }


def _module(row: ModuleRow) -> Module:
    values = {name: getattr(row, name) for name in Module.__dataclass_fields__ if name != "exports"}
    return Module(**values, exports=tuple(row.exports))

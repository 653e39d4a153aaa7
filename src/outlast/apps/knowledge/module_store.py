"""Modules: reusable code that agents saved as files, described and searchable. First argument: the open transaction.

A row of scope `session` describes a file of its workspace, and is removed once that file is gone everywhere. For
scope `user` (published) the file is a blob; it is used as `library/<path>` of a workspace.
"""

import logging
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict
from typing import Final, Protocol

import sqlalchemy as sa

from outlast.apps.knowledge.store import TEXTS
from outlast.apps.knowledge.tables import modules
from outlast.base.errors import OutlastError
from outlast.base.ids import new_id
from outlast.db.database import Database, Tx
from outlast.kernel.library.modules import Module, ModuleOrigin, NewModule, searched_text, text_hash

log = logging.getLogger("outlast.knowledge")
MAX_OF_A_WORKSPACE: Final = 200
MAX_OF_A_USER: Final = 500


class ModuleFiles(Protocol):
    """Looks up the files of workspaces."""

    async def holds(self, workspace_id: str, paths: Collection[str]) -> frozenset[str]:
        """The paths that are files of the workspace, on its volume or in its newest checkpoint. Wakes no
        sandbox."""


class Modules:
    """Modules that a run may use, without those whose files are gone. `files` is None if this server has no
    sandboxes, and so no modules. `dependencies`: the hash of the packages installed in sandboxes."""

    def __init__(self, db: Database, files: ModuleFiles | None, dependencies: str) -> None:
        self._db, self._files = db, files
        self.dependencies = dependencies

    async def usable(self, workspace_id: str | None, user_id: str | None) -> list[Module]:
        """See `UsableModules.usable`."""
        if self._files is None:
            return []
        own = [] if workspace_id is None else await self._living(self._files, workspace_id)
        published = [] if user_id is None else await self._db.read(of_user, user_id)
        return [*own, *published]

    async def _living(self, files: ModuleFiles, workspace_id: str) -> list[Module]:
        """The modules of a workspace with files. If its files cannot be read, none are usable and none are
        forgotten."""
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
    """A hash of the packages installed in sandboxes, in any order, and of the commands run after them."""
    return text_hash("\n".join([*sorted(set(packages)), "", *commands]))


# --- queries


def of_workspace(tx: Tx, workspace_id: str) -> list[Module]:
    """See `Library.of_workspace`."""
    return _all(tx, modules.c.workspace_id == workspace_id, modules.c.scope == "session")


def of_user(tx: Tx, user_id: str) -> list[Module]:
    """The modules published to a user, by path."""
    return _all(tx, modules.c.user_id == user_id, modules.c.scope == "user")


def save(
    tx: Tx, announced: Sequence[NewModule], origin: ModuleOrigin, workspace_id: str, dependencies: str
) -> list[Module]:
    """See `Library.save`; at most `MAX_OF_A_WORKSPACE` modules are stored."""
    known = {module.path: module for module in of_workspace(tx, workspace_id)}
    saved = []
    for one in announced:
        before = known.get(one.path)
        if before is None and len(known) >= MAX_OF_A_WORKSPACE:
            continue
        known[one.path] = _put(tx, before, one, origin, dependencies, workspace_id=workspace_id, scope="session")
        saved.append(known[one.path])
    tx.ring(TEXTS)
    return saved


def publish(tx: Tx, announced: NewModule, origin: ModuleOrigin, published_by: str, dependencies: str) -> Module:
    """See `Library.publish`."""
    before = next((one for one in of_user(tx, origin.user_id) if one.path == announced.path), None)
    tx.ring(TEXTS)
    of = {"scope": "user", "blob": announced.content_hash, "published_by": published_by}
    return _put(tx, before, announced, origin, dependencies, **of)


def mark_verified(tx: Tx, module_ids: Collection[str], dependencies: str) -> None:
    """Record that their import has just worked with these dependencies."""
    mine = modules.c.id.in_(sorted(module_ids))
    tx.execute(sa.update(modules).where(mine).values(dependencies=dependencies, verified_at=tx.now))


def remove(tx: Tx, module_ids: Collection[str]) -> None:
    """Forget modules. The files of a workspace stay; a published one's blob is removed by the next collection."""
    tx.execute(sa.delete(modules).where(modules.c.id.in_(sorted(module_ids))))


def remove_unchanged(tx: Tx, seen: Iterable[Module]) -> None:
    """Forget modules, unless they were announced again since they were read."""
    for one in seen:
        same = modules.c.id == one.id, modules.c.updated_at == one.updated_at
        tx.execute(sa.delete(modules).where(*same))


def _all(tx: Tx, *where: sa.ColumnElement[bool]) -> list[Module]:
    found = sa.select(modules).where(*where).order_by(modules.c.path, modules.c.id)
    return tx.rows(Module, found.limit(MAX_OF_A_USER))


def _put(
    tx: Tx, before: Module | None, one: NewModule, origin: ModuleOrigin, dependencies: str, **of: str | None
) -> Module:
    """Add a module, or replace the description `before`."""
    module_id = before.id if before is not None else new_id("module")
    values = {
        "path": one.path,
        "description": one.description,
        "exports": list(one.exports),
        "usage": one.usage,
        "hash": text_hash(searched_text(one.path, one.description, one.exports, one.usage)),
        "content_hash": one.content_hash,
        "dependencies": dependencies if one.verified else None,
        "verified_at": tx.now if one.verified else None,
        "updated_at": tx.now,
        **asdict(origin),
        **of,
    }
    if before is not None:
        tx.update(modules, {"id": module_id}, **values)
    else:
        tx.insert(modules, id=module_id, created_at=tx.now, **values)
    module = tx.find(Module, modules, {"id": module_id})
    assert module is not None  # written a moment ago, in this transaction
    return module

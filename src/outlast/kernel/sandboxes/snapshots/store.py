"""Rows of snapshots. First argument: the open transaction. A row belongs to one provider on one node."""

from typing import Any, Final

import sqlalchemy as sa

from outlast.base.records import dataclass
from outlast.db.database import Tx
from outlast.kernel.sandboxes.shapes import SnapshotProgress
from outlast.kernel.sandboxes.snapshots.rules import BuildState, Snapshot
from outlast.kernel.sandboxes.tables import sandboxes, snapshots
from outlast.kernel.streams.log_store import append
from outlast_sandbox.interface import SnapshotRecipe

ERROR_CHARS: Final = 4000


@dataclass(frozen=True, slots=True)
class Place:
    """The owner of snapshots: this provider on this node."""

    provider: str
    node_id: str


def tell(tx: Tx, project_id: str, data: SnapshotProgress) -> None:
    append(tx, project_id, [("snapshot.progress", data)])


def find(tx: Tx, place: Place, name: str) -> Snapshot | None:
    return tx.find(Snapshot, snapshots, {"provider": place.provider, "node_id": place.node_id, "name": name})


def list_all(tx: Tx, place: Place) -> list[Snapshot]:
    """Newest first."""
    return tx.rows(Snapshot, sa.select(snapshots).where(_at(place)).order_by(snapshots.c.created_at.desc()))


def begin(tx: Tx, place: Place, recipe: SnapshotRecipe) -> None:
    """Record the begin of a build, the first or a repeated one. A ready snapshot stays ready while it is searched."""
    known = find(tx, place, recipe.name)
    if known is None:
        tx.insert(
            snapshots,
            name=recipe.name,
            provider=place.provider,
            node_id=place.node_id,
            state=BuildState.BUILDING.value,
            recipe={
                "dependencies": list(recipe.dependencies),
                "commands": list(recipe.commands),
                "files": sorted(recipe.files),
                "template": recipe.project.template if recipe.project is not None else "",
            },
            created_at=tx.now,
            last_used_at=tx.now,
        )
    elif known.state != BuildState.READY:
        _update(tx, place, recipe.name, state=BuildState.BUILDING.value, created_at=tx.now, built_at=None, error=None)


def finish(tx: Tx, place: Place, name: str, ref: str, size_bytes: int) -> None:
    made = {"state": BuildState.READY.value, "ref": ref, "size_bytes": size_bytes, "error": None}
    # Built again after long, it is not collected as unused.
    _update(tx, place, name, **made, built_at=tx.now, last_used_at=tx.now)


def fail(tx: Tx, place: Place, name: str, error: str) -> None:
    """Record a failed build. A snapshot that another process has meanwhile made ready stays ready."""
    being_built = snapshots.c.state == BuildState.BUILDING.value
    _update(tx, place, name, being_built, state=BuildState.FAILED.value, error=error[:ERROR_CHARS], built_at=tx.now)


def forget(tx: Tx, place: Place, name: str) -> None:
    """Forget a ready snapshot: its files are gone."""
    # So it is built again when it is needed.
    _update(tx, place, name, state=BuildState.BUILDING.value, ref="", built_at=None)


def start_from(tx: Tx, place: Place, name: str, sandbox_id: str) -> None:
    """A sandbox starts from it: recorded with both."""
    _update(tx, place, name, last_used_at=tx.now)
    tx.update(sandboxes, {"id": sandbox_id}, snapshot=name)


def remove(tx: Tx, place: Place, name: str) -> bool:
    """False if there is none of that name."""
    return bool(tx.execute(snapshots.delete().where(_at(place), snapshots.c.name == name)).rowcount)


def _update(tx: Tx, place: Place, name: str, *more: sa.ColumnElement[bool], **values: Any) -> None:
    tx.execute(snapshots.update().where(_at(place), snapshots.c.name == name, *more).values(**values))


def _at(place: Place) -> sa.ColumnElement[bool]:
    return sa.and_(snapshots.c.provider == place.provider, snapshots.c.node_id == place.node_id)

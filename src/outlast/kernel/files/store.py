"""Files of projects in the database, and their events. First argument: the open transaction."""

from datetime import datetime, timedelta
from typing import Final, Literal, NamedTuple

import sqlalchemy as sa

from outlast.base.errors import NotFound, TooManyArtifacts
from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.kernel.accounts.tables import users
from outlast.kernel.apps import registry
from outlast.kernel.files.index import FILE_INDEX
from outlast.kernel.files.kinds import Kind
from outlast.kernel.files.rows import ArtifactRow
from outlast.kernel.files.shapes import ArtifactChanged, ArtifactData, ArtifactDeleted
from outlast.kernel.files.tables import artifacts
from outlast.kernel.lists import Listed
from outlast.kernel.projects.tables import projects
from outlast.kernel.row_shapes import shape_of
from outlast.kernel.streams.log_store import append

BELL: Final = "artifacts"
LEASE: Final = timedelta(minutes=10)  # after this long another server may read the file
ChangeName = Literal["artifact.created", "artifact.updated"]
_SHOWN: Final = sa.select(artifacts, users.c.name.label("creator")).join(users, users.c.id == artifacts.c.created_by)


def add(
    tx: Tx, project_id: str, user_id: str, name: str, kind: Kind, size_bytes: int, blob: str, most: int
) -> tuple[str, bool]:
    """Add a file that waits to be read. Returns (its id, True if it is new): the same content under the same name is
    the same file. Raises `TooManyArtifacts`. Not announced yet."""
    tx.execute(sa.select(projects.c.id).where(projects.c.id == project_id).with_for_update(key_share=True))
    mine = artifacts.c.project_id == project_id
    same = sa.select(artifacts.c.id).where(mine, artifacts.c.name == name, artifacts.c.blob == blob)
    known = tx.execute(same.order_by(artifacts.c.id).limit(1)).scalar()
    if known is not None:
        return str(known), False
    count = int(tx.execute(sa.select(sa.func.count()).select_from(artifacts).where(mine)).scalar_one())
    if most and count >= most:
        raise TooManyArtifacts(f"The project has {count} files; the limit is {most}.", project_id=project_id)
    artifact_id = new_id("artifact")
    tx.insert(
        artifacts,
        id=artifact_id,
        project_id=project_id,
        blob=blob,
        name=name,
        media_type=kind.media_type,
        size_bytes=size_bytes,
        state="reading",
        width=kind.image.width if kind.image else None,
        height=kind.image.height if kind.image else None,
        created_by=user_id,
        created_at=tx.now,
        due_at=tx.now,
    )
    tx.ring(BELL)
    return artifact_id, True


class ShownArtifact(NamedTuple):
    artifact: ArtifactRow
    creator: str


def artifact_data(tx: Tx, artifact_id: str) -> ArtifactData:
    """Raises `NotFound`."""
    row = tx.row(ShownArtifact, _SHOWN.where(artifacts.c.id == artifact_id))
    if row is None:
        raise NotFound("There is no such file.", artifact_id=artifact_id)
    return _data(row)


def list_artifacts(tx: Tx, project_id: str, before: str | None, limit: int) -> Listed[ArtifactData, str]:
    """At most `limit` of a project's files, newest first, those before the id `before`."""
    chosen = _SHOWN.where(artifacts.c.project_id == project_id)
    if before is not None:
        chosen = chosen.where(artifacts.c.id < before)
    rows = tx.rows(ShownArtifact, chosen.order_by(artifacts.c.id.desc()).limit(limit + 1))
    shown = [_data(row) for row in rows[:limit]]
    return Listed(shown, shown[-1].id if len(rows) > limit else None)


def by_source(tx: Tx, project_id: str, source_ids: list[str]) -> dict[str, ArtifactData]:
    """The project's files whose text these sources hold."""
    mine = artifacts.c.project_id == project_id
    rows = tx.rows(ShownArtifact, _SHOWN.where(mine, artifacts.c.source_id.in_(source_ids)))
    return {row.artifact.source_id: _data(row) for row in rows if row.artifact.source_id is not None}


def claim(tx: Tx, without: list[str]) -> ArtifactRow | None:
    """Claim the file that has waited longest, until the lease lapses; None if no file waits."""
    due = (
        sa.select(artifacts)
        .where(artifacts.c.due_at <= tx.now, artifacts.c.id.not_in(without))
        .order_by(artifacts.c.due_at, artifacts.c.id)
        .limit(1)
        .with_for_update(skip_locked=True)
    )
    row = tx.row(ArtifactRow, due)
    if row is not None:
        tx.update(artifacts, {"id": row.id}, due_at=tx.now + LEASE)
    return row


def take_over(tx: Tx) -> None:
    """Make files due again that the previous server was reading when it was killed."""
    tx.execute(sa.update(artifacts).where(artifacts.c.due_at.is_not(None)).values(due_at=tx.now))


def next_due(tx: Tx, without: list[str]) -> datetime | None:
    """The time at which a file other than these is due next; None if no file waits."""
    wanted = sa.select(sa.func.min(artifacts.c.due_at)).where(artifacts.c.id.not_in(without))
    found: datetime | None = tx.execute(wanted).scalar()
    return found


def hold_waiting(tx: Tx, artifact_id: str) -> bool:
    """Lock a file's row; True if it still waits for its text. False if it was deleted, or another server has read
    it."""
    mine = sa.select(artifacts.c.state).where(artifacts.c.id == artifact_id).with_for_update()
    return bool(tx.execute(mine).scalar() == "reading")


def announce(
    tx: Tx, artifact_id: str, event: ChangeName = "artifact.updated", *, by: str | None = None
) -> ArtifactData:
    """Send a file's state to the followers of its project."""
    data = artifact_data(tx, artifact_id)
    append(tx, data.project_id, [(event, ArtifactChanged(artifact=data, by=by))])
    return data


def delete(tx: Tx, artifact_id: str) -> None:
    """Remove a file's row and its text from search. Its blobs are collected once no row names them."""
    row = tx.find(ArtifactRow, artifacts, {"id": artifact_id})
    if row is None:
        return
    tx.execute(sa.delete(artifacts).where(artifacts.c.id == artifact_id))
    if row.source_id is not None:
        registry.implementation(FILE_INDEX).remove(tx, row.source_id)
    append(tx, row.project_id, [("artifact.deleted", ArtifactDeleted(artifact_id=artifact_id))])


def _data(row: ShownArtifact) -> ArtifactData:
    return shape_of(ArtifactData, row.artifact, created_by_name=row.creator)

"""The project's newest files, listed for a model."""

from datetime import datetime
from typing import Final

import sqlalchemy as sa

from outlast.db.database import Tx
from outlast.kernel.files.rows import ArtifactRow
from outlast.kernel.files.tables import artifacts

TOLD: Final = 50
_MINE: Final = (artifacts.c.project_id == sa.bindparam("project")) & (artifacts.c.created_at <= sa.bindparam("since"))
_NEWEST: Final = (
    sa.select(artifacts)
    .where(_MINE)
    .order_by(artifacts.c.created_at.desc(), artifacts.c.id.desc())
    .limit(sa.bindparam("most", TOLD, sa.Integer))
)
_COUNT: Final = sa.select(sa.func.count()).select_from(artifacts).where(_MINE)


def newest_files(tx: Tx, project_id: str, since: datetime) -> list[str]:
    """The project's files as they were at that time, one per line, newest first, at most 50; the rest are counted."""
    key = {"project": project_id, "since": since}
    rows = tx.rows(ArtifactRow, _NEWEST, key)
    lines = [f"- {' '.join(row.name.split())} ({_kind(row)})" for row in rows]
    if len(rows) < TOLD:
        return lines
    total = int(tx.execute(_COUNT, key).scalar() or 0)
    return [*lines, *([f"- and {total - len(rows)} older files"] if total > len(rows) else [])]


def _kind(row: ArtifactRow) -> str:
    facts = [row.media_type]
    if row.pages:
        facts.append(f"{row.pages} pages")
    if row.state == "ready" and row.characters:
        facts.append(f"{row.characters} characters of text")
    elif row.state in ("no_text", "failed"):
        facts.append("no text to search")
    return ", ".join(facts)

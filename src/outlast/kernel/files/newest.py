"""The project's newest files, listed for a model."""

from datetime import datetime
from typing import Final

import sqlalchemy as sa

from outlast.db.database import Tx
from outlast.kernel.files.rows import ArtifactRow
from outlast.kernel.files.tables import artifacts

TOLD: Final = 50


def newest_files(tx: Tx, project_id: str, since: datetime) -> list[str]:
    """The project's files as they were at that time, one per line, newest first, at most 50; the rest are counted."""
    mine = artifacts.c.project_id == project_id, artifacts.c.created_at <= since
    rows = tx.rows(
        ArtifactRow,
        sa.select(artifacts).where(*mine).order_by(artifacts.c.created_at.desc(), artifacts.c.id.desc()).limit(TOLD),
    )
    lines = [f"- {' '.join(row.name.split())} ({_kind(row)})" for row in rows]
    if len(rows) < TOLD:
        return lines
    total = int(tx.execute(sa.select(sa.func.count()).select_from(artifacts).where(*mine)).scalar() or 0)
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

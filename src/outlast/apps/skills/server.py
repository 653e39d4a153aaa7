"""What the skills app opens once per server."""

import sqlalchemy as sa

from outlast.apps.skills.addition import skills_addition
from outlast.apps.skills.settings import SkillSettings
from outlast.apps.skills.tables import skills
from outlast.db.database import Tx
from outlast.kernel.apps.opened import Opened, Opening


def open_app(opening: Opening) -> Opened:
    """The tools of skills for every agent, and the server's own skills."""
    db, settings = opening.database, opening.settings.of(SkillSettings)

    async def keep() -> None:
        if not settings.folder and not await db.read(_has_some):
            return
        from outlast.apps.skills.server_folder import ServerFolder

        await ServerFolder(db, opening.blobs, opening.clock, settings).run()

    addition = skills_addition(db, opening.blobs, opening.workspaces, opening.runs_code)
    return Opened(additions=[addition], tasks={"skills of the server": keep})


def _has_some(tx: Tx) -> bool:
    """True if skills of the server are stored, perhaps of an earlier configuration."""
    found = sa.select(skills.c.id).where(skills.c.project_id.is_(None)).limit(1)
    return tx.execute(found).first() is not None

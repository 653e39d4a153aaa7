"""Schedules of the operator's agents (`Agent(…, schedule=…)`): each load of the code makes, changes and removes them.

They lie in one project and start runs as its oldest owner. Several servers of one database are expected to load the
same code; one that is configured to load none changes nothing.
"""

from typing import Any, Final

import sqlalchemy as sa

from outlast.db.database import Tx
from outlast.kernel.agents.agent import Agent
from outlast.kernel.projects.tables import members, projects
from outlast.kernel.schedules import inbox, store
from outlast.kernel.schedules.rows import ScheduleRow
from outlast.kernel.services import Services

MESSAGE: Final = "Do your scheduled work."
"""What an agent is sent; a flow needs no message."""
_HOME: Final = (
    sa.select(members.c.project_id, members.c.user_id)
    .join(projects, projects.c.id == members.c.project_id)
    .where(members.c.role == "owner")
    .order_by(projects.c.created_at, projects.c.id, members.c.created_at, members.c.user_id)
    .limit(1)
)


async def follow_code(services: Services) -> None:
    """Make the schedules of code those that the loaded agents declare. Repeatable."""
    settings, agents = services.settings.agents, services.engine.agents
    if not (settings.folder or settings.modules or agents.own):
        return
    wanted = {name: agents[name] for name in sorted(agents.own) if agents[name].schedule}
    if not wanted and not await services.db.read(store.has_schedules_of_code):  # as for most: nothing is written
        return
    if not await services.db.write(_follow, wanted, services.settings.schedules.project):
        services.engine.log("schedules of code were not made: the project does not exist yet", agents=sorted(wanted))


def _follow(tx: Tx, wanted: dict[str, Agent], project: str) -> bool:
    """False if there is no project for them."""
    standing = {row.agent: row for row in store.schedules_of_code(tx)}
    for name, row in standing.items():
        if name not in wanted:
            inbox.tell_settled(tx, row)
            store.delete(tx, row)
    if not wanted:
        return True
    home = tx.execute(_HOME if not project else _HOME.where(projects.c.id == project)).first()
    if home is None:
        return False
    for name, agent in wanted.items():
        fields = _declared(agent) | {"project_id": home.project_id, "created_by": home.user_id}
        if name in standing:
            _change(tx, standing[name], fields)
        else:
            defaults = {"on_missed": "skip", "thread": "new", "enabled": True}
            schedule_id = store.add(tx, origin="code", agent=name, **defaults, **fields)
            store.announce(tx, store.hold(tx, schedule_id))
    return True


def _declared(agent: Agent) -> dict[str, Any]:
    return {
        "title": agent.title,
        "message": "" if agent.flow is not None else MESSAGE,
        "cron": " ".join(agent.schedule.split()),
        "zone": agent.zone,
    }


def _change(tx: Tx, row: ScheduleRow, fields: dict[str, Any]) -> None:
    """Change what the code declares otherwise. A schedule whose times stay keeps its next due time: it may have been
    missed."""
    before = row._asdict()
    if all(before[name] == value for name, value in fields.items()):
        return
    changed = store.change(tx, row.id, updated_at=tx.now, **fields, **store.NOT_REFUSED)
    if (row.cron, row.zone) != (changed.cron, changed.zone):
        store.set_next(tx, changed)
    inbox.tell_settled(tx, row)
    store.announce(tx, row)
    store.announce(tx, changed)

"""Projects and their members in the database. First argument: the open transaction."""

from typing import Final, Literal, NamedTuple

import sqlalchemy as sa

from outlast.base.errors import AlreadyMember, LastOwner
from outlast.base.ids import new_id
from outlast.base.lookups import demand_found
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import ACCESS_BELL
from outlast.kernel.accounts.tables import users
from outlast.kernel.projects.rows import MemberRow, ProjectRow
from outlast.kernel.projects.rules import Role, leaves_an_owner
from outlast.kernel.projects.shapes import (
    MemberAnswer,
    MemberChanged,
    MemberData,
    MemberRemoved,
    ProjectAnswer,
    ProjectUpdated,
)
from outlast.kernel.projects.tables import members, projects
from outlast.kernel.row_shapes import shape_of
from outlast.kernel.runs.tables import runs, timers
from outlast.kernel.runs.timers import ANY_KIND, timed_in
from outlast.kernel.schedules.tables import schedules
from outlast.kernel.streams.log_store import append
from outlast.kernel.streams.tables import log
from outlast.kernel.threads.tables import threads

DEFAULT_NAME: Final = "My project"
_HOLD_USER: Final = sa.select(users.c.id).where(users.c.id == sa.bindparam("user")).with_for_update(key_share=True)
_DEFAULT_PROJECT: Final = (
    sa.select(projects.c.id)
    .join(members, members.c.project_id == projects.c.id)
    .where(
        projects.c.default_for == sa.bindparam("user"),
        members.c.user_id == sa.bindparam("user"),
        members.c.role != "viewer",
    )
)


def add_project(tx: Tx, owner_id: str, name: str, *, default_for: str | None = None) -> str:
    """Create a project with one owner and return its id."""
    project_id = new_id("project")
    times = {"created_at": tx.now, "updated_at": tx.now}
    tx.insert(projects, id=project_id, name=name, default_for=default_for, **times)
    _insert_member(tx, project_id, owner_id, Role.OWNER)
    return project_id


def ensure_default_project(tx: Tx, user_id: str) -> str:
    """The id of the user's default project, created if there is none."""
    tx.execute(_HOLD_USER, {"user": user_id})
    found = tx.execute(_DEFAULT_PROJECT, {"user": user_id}).scalar()
    if found is not None:
        return str(found)
    tx.execute(sa.update(projects).where(projects.c.default_for == user_id).values(default_for=None))
    return add_project(tx, user_id, DEFAULT_NAME, default_for=user_id)


def find_default_project(tx: Tx, user_id: str) -> str | None:
    """The id of the user's default project; None if there is none."""
    found: str | None = tx.value(projects.c.id, {"default_for": user_id})
    return found


class _SeenProject(NamedTuple):
    project: ProjectRow
    role: Literal["owner", "editor", "viewer"]
    thread_count: int


def project_data(tx: Tx, project_id: str, user_id: str) -> ProjectAnswer:
    """One project as a member sees it. Raises `NotFound` for a stranger."""
    row = tx.row(_SeenProject, _seen_by(user_id).where(projects.c.id == project_id))
    return _project_data(demand_found(row, "There is no such project for you.", project_id=project_id))


def list_projects(tx: Tx, user_id: str) -> list[ProjectAnswer]:
    """The user's projects, oldest first."""
    rows = tx.rows(_SeenProject, _seen_by(user_id).order_by(projects.c.created_at, projects.c.id))
    return [_project_data(row) for row in rows]


def rename_project(tx: Tx, project_id: str, name: str) -> None:
    """Rename a project, and notify its followers."""
    tx.update(projects, {"id": project_id}, name=name, updated_at=tx.now)
    append(tx, project_id, [("project.updated", ProjectUpdated(project_id=project_id, name=name))])


class ProjectAgents(NamedTuple):
    """The agents that may be used (None: all), and what all of them read."""

    agents: list[str] | None
    instructions: str


def agents_of(tx: Tx, project_id: str) -> ProjectAgents:
    """The project's settings of agents. Raises `NotFound`."""
    found = tx.find(ProjectAgents, projects, {"id": project_id})
    return demand_found(found, "There is no such project.", project_id=project_id)


def set_agents(tx: Tx, project_id: str, chosen: ProjectAgents) -> None:
    """Replace the project's settings of agents."""
    tx.update(projects, {"id": project_id}, updated_at=tx.now, **chosen._asdict())


def count_active_runs(tx: Tx, project_id: str) -> int:
    """The number of runs of the project that have not ended."""
    alive = runs.c.project_id == project_id, runs.c.leg != "ended"
    return int(tx.execute(sa.select(sa.func.count()).select_from(runs).where(*alive)).scalar_one())


def delete_project(tx: Tx, project_id: str) -> None:
    """Delete a project with everything in it, including logs; followers are woken and find it gone."""
    inside = [sa.select(noun.c.id).where(noun.c.project_id == project_id) for noun in (threads, runs)]
    streams = *inside, sa.select(sa.literal(project_id))
    in_it = sa.select(schedules.c.id).where(schedules.c.project_id == project_id)
    for stream_id in (project_id, *tx.execute(inside[0]).scalars()):
        tx.ring(stream_id)
    tx.execute(sa.delete(log).where(log.c.stream_id.in_(sa.union_all(*streams))))
    timed = sa.union_all(*streams, *timed_in(inside[1]), in_it)
    tx.execute(sa.delete(timers).where(ANY_KIND, timers.c.subject_id.in_(timed)))
    tx.execute(sa.delete(projects).where(projects.c.id == project_id))


# --- members ----------------------------------------------------------------------------------------------------------


class _NamedMember(NamedTuple):
    member: MemberRow
    name: str


_MEMBERS: Final = sa.select(members, users.c.name).join(users, users.c.id == members.c.user_id)


def list_members(tx: Tx, project_id: str) -> list[MemberAnswer]:
    """All members of the project, in order of joining, without plans and balances."""
    inside = _MEMBERS.where(members.c.project_id == project_id)
    rows = tx.rows(_NamedMember, inside.order_by(members.c.created_at, members.c.user_id))
    return [shape_of(MemberAnswer, row.member, name=row.name, plan=None, balance=None) for row in rows]


def member_data(tx: Tx, project_id: str, user_id: str) -> MemberData:
    """One member. Raises `NotFound`."""
    row = tx.row(_NamedMember, _MEMBERS.where(members.c.project_id == project_id, members.c.user_id == user_id))
    words = "This person is not a member of the project."
    found = demand_found(row, words, project_id=project_id, user_id=user_id)
    return shape_of(MemberData, found.member, name=found.name)


def add_member(tx: Tx, project_id: str, user_id: str, role: Role) -> MemberData:
    """Make a user a member. Raises `AlreadyMember`."""
    _lock(tx, project_id)
    if tx.exists(members, {"project_id": project_id, "user_id": user_id}):
        raise AlreadyMember("This person is already a member of the project.", project_id=project_id, user_id=user_id)
    _insert_member(tx, project_id, user_id, role)
    member = member_data(tx, project_id, user_id)
    append(tx, project_id, [("member.added", MemberChanged(member=member))])
    return member


def change_role(tx: Tx, project_id: str, user_id: str, role: Role) -> MemberData:
    """Change a member's role. Raises `NotFound`, and `LastOwner` if the project would have no owner."""
    _lock(tx, project_id)
    _demand_an_owner(tx, project_id, member_data(tx, project_id, user_id), role)
    tx.update(members, {"project_id": project_id, "user_id": user_id}, role=role.value)
    member = member_data(tx, project_id, user_id)
    append(tx, project_id, [("member.changed", MemberChanged(member=member))])
    tx.ring(ACCESS_BELL)
    return member


def remove_member(tx: Tx, project_id: str, user_id: str) -> None:
    """End a membership. Raises `NotFound`, `LastOwner`."""
    _lock(tx, project_id)
    _demand_an_owner(tx, project_id, member_data(tx, project_id, user_id), None)
    tx.execute(sa.delete(members).where(members.c.project_id == project_id, members.c.user_id == user_id))
    append(tx, project_id, [("member.removed", MemberRemoved(user_id=user_id))])
    tx.ring(ACCESS_BELL)


def _insert_member(tx: Tx, project_id: str, user_id: str, role: Role) -> None:
    tx.insert(members, project_id=project_id, user_id=user_id, role=role.value, created_at=tx.now)


def _lock(tx: Tx, project_id: str) -> None:
    """Serialize changes of a project's members, so that the last two owners cannot both leave."""
    tx.execute(sa.select(projects.c.id).where(projects.c.id == project_id).with_for_update(key_share=True))


def _demand_an_owner(tx: Tx, project_id: str, member: MemberData, after: Role | None) -> None:
    among = members.c.project_id == project_id, members.c.role == Role.OWNER.value
    owners = tx.execute(sa.select(sa.func.count()).select_from(members).where(*among)).scalar_one()
    if not leaves_an_owner(owners, Role(member.role), after):
        raise LastOwner("This person is the only owner of the project.", project_id=project_id, user_id=member.user_id)


def _seen_by(user_id: str) -> sa.Select[tuple[object, ...]]:
    threads_in_it = (
        sa.select(sa.func.count())
        .select_from(threads)
        .where(threads.c.project_id == projects.c.id, threads.c.status == "open")
        .scalar_subquery()
    )
    mine = (members.c.project_id == projects.c.id) & (members.c.user_id == user_id)
    return sa.select(projects, members.c.role, threads_in_it.label("thread_count")).join(members, mine)


def _project_data(row: _SeenProject) -> ProjectAnswer:
    cursor = str(row.project.log_seq)
    return shape_of(ProjectAnswer, row.project, role=row.role, thread_count=row.thread_count, cursor=cursor)

"""Projects: list, create, rename, delete."""

from outlast.base.errors import ThreadBusy
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.limits.rules import checked_line
from outlast.kernel.limits.store import check_made_rate
from outlast.kernel.projects import store as projects
from outlast.kernel.projects.permissions import require
from outlast.kernel.projects.rules import Right
from outlast.kernel.projects.shapes import ProjectAnswer
from outlast.kernel.projects.tables import members as members_table
from outlast.kernel.sandboxes.actions import end_given_up
from outlast.kernel.sandboxes.store import give_up
from outlast.kernel.services import Services, in_read, in_write_with_services

_OWNED = members_table.c.role == "owner"


async def list_projects(services: Services, actor: Actor) -> list[ProjectAnswer]:
    """The projects the actor is a member of, oldest first."""
    return await services.db.read(projects.list_projects, actor.user_id)


@in_write_with_services
def create_project(tx: Tx, services: Services, actor: Actor, name: str) -> ProjectAnswer:
    """Create a project; the actor owns it."""
    limits = services.settings.limits
    title = checked_line("The project's name", name, limits.title_chars)
    most = limits.projects_per_minute_per_user
    check_made_rate(tx, members_table, actor.user_id, most, things="projects", by="user_id", which=_OWNED)
    return projects.project_data(tx, projects.add_project(tx, actor.user_id, title), actor.user_id)


@in_read
def read_project(tx: Tx, actor: Actor, project_id: str) -> ProjectAnswer:
    """One project as the actor sees it."""
    require(tx, actor, project_id, Right.READ)
    return projects.project_data(tx, project_id, actor.user_id)


@in_write_with_services
def rename_project(tx: Tx, services: Services, actor: Actor, project_id: str, name: str) -> ProjectAnswer:
    """Rename a project (editors)."""
    require(tx, actor, project_id, Right.EDIT)
    title = checked_line("The project's name", name, services.settings.limits.title_chars)
    projects.rename_project(tx, project_id, title)
    return projects.project_data(tx, project_id, actor.user_id)


async def delete_project(services: Services, actor: Actor, project_id: str) -> None:
    """Delete a project with everything in it, including sandboxes and files (owners). Raises `ThreadBusy` while runs
    have not ended. Once this returns the project is gone; a sandbox that could not be ended now is ended later."""

    def run(tx: Tx) -> None:
        require(tx, actor, project_id, Right.OWN)
        active = projects.count_active_runs(tx, project_id)
        if active:
            raise ThreadBusy(
                f"Agents are still working in this project: {active} runs have not ended.",
                hint="Cancel them first.",
                project_id=project_id,
                active_runs=active,
            )
        give_up(tx, project_id)
        projects.delete_project(tx, project_id)

    await services.db.write(run)
    await end_given_up(services)


async def project_or_default(services: Services, actor: Actor, project_id: str | None) -> str:
    """The project of a call, else the actor's default one (created if missing). Checks no permission."""
    if project_id is not None:
        return project_id
    return await services.db.write(projects.ensure_default_project, actor.user_id)

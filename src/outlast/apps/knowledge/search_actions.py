"""Search in the documentation and modules that a person can see."""

from dataclasses import dataclass

from outlast.base.errors import MalformedInput
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.library.search import PackageData, SearchAnswer
from outlast.kernel.projects import store as projects
from outlast.kernel.projects.permissions import require
from outlast.kernel.projects.rules import Right
from outlast.kernel.services import Services


@dataclass(frozen=True, slots=True)
class Packages:
    """What can be searched, by name. `embedder`: the model whose vectors a search uses (None: words alone)."""

    items: list[PackageData]
    embedder: str | None
    reranker: bool


async def search_knowledge(
    services: Services,
    actor: Actor,
    query: str,
    *,
    project_id: str | None = None,
    package: str | None = None,
    limit: int | None = None,
) -> SearchAnswer:
    """What is found in everybody's documentation, the project's (None: the actor's default one) and the modules
    published to the actor (members). `limit` None: as configured. Raises `MalformedInput` for a query of spaces."""
    if not query.strip():
        raise MalformedInput("The query is empty.", hint="Say what you are looking for.", field="q")
    chosen = await services.db.read(_project, actor, project_id)
    return await services.knowledge.search(
        query,
        project_id=chosen,
        package=package or None,
        limit=limit or services.settings.knowledge.results,
        user_id=actor.user_id,
    )


async def list_packages(services: Services, actor: Actor, project_id: str | None = None) -> Packages:
    """What can be searched in a project (members)."""
    chosen = await services.db.read(_project, actor, project_id)
    knowledge = services.knowledge
    return Packages([*await knowledge.packages(chosen)], knowledge.embedder, knowledge.reranks)


def _project(tx: Tx, actor: Actor, project_id: str | None) -> str:
    """The project that is meant, which the actor may read. One who has no default project sees what is everybody's."""
    chosen = project_id or projects.find_default_project(tx, actor.user_id)
    if chosen is None:
        return ""
    require(tx, actor, chosen, Right.READ)
    return chosen

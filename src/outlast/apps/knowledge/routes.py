"""Documentation: search it and its packages; list, add, read, refresh and remove its sources."""

from fastapi import Query
from starlette.responses import Response

from outlast.apps.knowledge import actions
from outlast.apps.knowledge.shapes import PackagesReply, PassageData, SourceData, SourceRequest
from outlast.kernel.http.auth import Signed, Svc
from outlast.kernel.http.parameters import Limit
from outlast.kernel.http.responses import nothing, page, reply
from outlast.kernel.http.routers import noun_router
from outlast.kernel.http.shapes import Page
from outlast.kernel.library.search import SearchReply

router = noun_router("Knowledge", prefix="/v1/knowledge")


@router.get("/search", response_model=SearchReply)
async def search_knowledge(
    services: Svc,
    actor: Signed,
    q: str = Query(min_length=1, max_length=2_000),
    package: str | None = Query(None, max_length=300),
    limit: int | None = Query(None, ge=1, le=50),
    project_id: str | None = None,
) -> Response:
    """Search the shared documentation, the project's (without `project_id`: the caller's default project) and the
    caller's published modules. Always answers; `method` names the basis of the order."""
    found = await actions.search_knowledge(services, actor, q, project_id=project_id, package=package, limit=limit)
    return reply(found.model_dump(exclude_unset=True))  # `scores` lists the methods that found a hit


@router.get("/packages", response_model=PackagesReply)
async def list_knowledge_packages(services: Svc, actor: Signed, project_id: str | None = None) -> Response:
    """The searchable packages, by name, and the model of their vectors."""
    return reply(await actions.list_packages(services, actor, project_id))


@router.get("/sources", response_model=Page[SourceData])
async def list_knowledge_sources(
    services: Svc, actor: Signed, project_id: str | None = None, package: str | None = Query(None, max_length=300)
) -> Response:
    """The shared sources, from the configuration, and the project's (without `project_id`: the caller's default
    project)."""
    return reply(page(await actions.list_sources(services, actor, project_id, package)))


@router.post("/sources", status_code=201, response_model=SourceData)
async def add_knowledge_source(body: SourceRequest, services: Svc, actor: Signed) -> Response:
    """Add documentation to a project (editors). An address is read in the background (`knowledge.updated` reports
    progress); a text is added immediately. Adding the same place again rereads that source."""
    return reply(await actions.add_source(services, actor, body), 201)


@router.get("/sources/{source_id}", response_model=SourceData)
async def read_knowledge_source(source_id: str, services: Svc, actor: Signed) -> Response:
    """One source and its progress."""
    return reply(await actions.read_source(services, actor, source_id))


@router.delete("/sources/{source_id}", status_code=204)
async def remove_knowledge_source(source_id: str, services: Svc, actor: Signed) -> Response:
    """Remove a source that was added to a project (editors). A source of the configuration is refused (409)."""
    await actions.remove_source(services, actor, source_id)
    return nothing()


@router.post("/sources/{source_id}/refresh", status_code=202, response_model=SourceData)
async def refresh_knowledge_source(source_id: str, services: Svc, actor: Signed) -> Response:
    """Read the source again now; unchanged passages are kept."""
    return reply(await actions.refresh_source(services, actor, source_id), 202)


@router.get("/sources/{source_id}/passages", response_model=Page[PassageData])
async def list_knowledge_passages(
    source_id: str, services: Svc, actor: Signed, after: int = Query(-1, ge=-1, le=2**31 - 1), limit: Limit = 50
) -> Response:
    """The indexed passages of the source, in order; `next` is the `after` of the following ones."""
    found = await actions.read_passages(services, actor, source_id, after, limit)
    return reply(page(found.items, found.next))

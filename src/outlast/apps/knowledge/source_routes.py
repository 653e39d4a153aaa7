"""Sources of documentation: list, add, look into, read again, remove."""

from fastapi import APIRouter, Query
from starlette.responses import Response

from outlast.apps.knowledge import source_actions as actions
from outlast.apps.knowledge.shapes import PassageData, SourceData
from outlast.apps.knowledge.source_actions import PASSAGES, Addition
from outlast.apps.knowledge.source_shapes import SourceRequest
from outlast.base.errors import MalformedInput
from outlast.kernel.http.auth import Signed, Svc
from outlast.kernel.http.responses import nothing, page, reply
from outlast.kernel.http.shapes import Page

router = APIRouter(prefix="/v1/knowledge/sources", tags=["Knowledge"])


@router.get("", response_model=Page[SourceData])
async def list_knowledge_sources(
    services: Svc, actor: Signed, project_id: str | None = None, package: str | None = Query(None, max_length=300)
) -> Response:
    """Everybody's sources, from the configuration, and the project's (without one: the caller's default project)."""
    return reply(page(await actions.list_sources(services, actor, project_id, package)))


@router.post("", status_code=201, response_model=SourceData)
async def add_knowledge_source(body: SourceRequest, services: Svc, actor: Signed) -> Response:
    """Add documentation to a project (editors). An address is read in the background (`knowledge.updated` reports
    progress); a text is added immediately. Adding the same place again rereads that source."""
    if (body.location is None) == (body.text is None):
        raise MalformedInput(
            "A source has a location or a text.", hint="Send one of the two, and not both.", field="location"
        )
    addition = Addition(
        package=body.package, location=body.location or "", text=body.text, name=body.name or "", kind=body.kind
    )
    return reply(await actions.add_source(services, actor, addition, body.project_id), 201)


@router.get("/{source_id}", response_model=SourceData)
async def read_knowledge_source(source_id: str, services: Svc, actor: Signed) -> Response:
    """One source, and how far it is."""
    return reply(await actions.read_source(services, actor, source_id))


@router.delete("/{source_id}", status_code=204)
async def remove_knowledge_source(source_id: str, services: Svc, actor: Signed) -> Response:
    """Remove a source that was added to a project (editors). One of the configuration is refused (409)."""
    await actions.remove_source(services, actor, source_id)
    return nothing()


@router.post("/{source_id}/refresh", status_code=202, response_model=SourceData)
async def refresh_knowledge_source(source_id: str, services: Svc, actor: Signed) -> Response:
    """Have it read again now; what has not changed is kept."""
    return reply(await actions.refresh_source(services, actor, source_id), 202)


@router.get("/{source_id}/passages", response_model=Page[PassageData])
async def list_knowledge_passages(
    source_id: str,
    services: Svc,
    actor: Signed,
    after: int = Query(-1, ge=-1, le=2**31 - 1),
    limit: int = Query(PASSAGES, ge=1, le=200),
) -> Response:
    """What is indexed of it, in its order; `next` is the `after` of the following ones."""
    found = await actions.read_passages(services, actor, source_id, after, limit)
    return reply(page(found.items, found.next))

"""Search in documentation and saved modules, and what there is to search."""

from dataclasses import fields
from typing import Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from outlast.apps.knowledge import search_actions as actions
from outlast.apps.knowledge.search_shapes import PackagesReply, SearchReply
from outlast.base.clock import iso
from outlast.kernel.http.auth import Signed, Svc
from outlast.kernel.http.responses import page, reply
from outlast.kernel.library.search import Hit, PackageData

router = APIRouter(prefix="/v1/knowledge", tags=["Knowledge"])


@router.get("/search", response_model=SearchReply)
async def search_knowledge(
    services: Svc,
    actor: Signed,
    q: str = Query(min_length=1, max_length=2_000),
    package: str | None = Query(None, max_length=300),
    limit: int | None = Query(None, ge=1, le=50),
    project_id: str | None = None,
) -> Response:
    """Search everybody's documentation, the project's (without one: the caller's default project) and the caller's
    published modules. Always answers; `method` says what the order rests on."""
    answer = await actions.search_knowledge(services, actor, q, project_id=project_id, package=package, limit=limit)
    return reply(
        {
            "items": [_shown(hit) for hit in answer.hits],
            "method": answer.method,
            "note": answer.note,
            "searched": answer.searched,
            "took_ms": answer.took_ms,
        }
    )


@router.get("/packages", response_model=PackagesReply)
async def list_knowledge_packages(services: Svc, actor: Signed, project_id: str | None = None) -> Response:
    """What can be searched, by name, and whether searches use vectors."""
    found = await actions.list_packages(services, actor, project_id)
    listed = page([_shown(package) for package in found.items])
    return reply({**listed, "embedder": found.embedder, "reranker": found.reranker})


def _shown(one: Hit | PackageData) -> dict[str, Any]:
    values = {field.name: getattr(one, field.name) for field in fields(one)}
    return values | {"fetched_at": None if one.fetched_at is None else iso(one.fetched_at)}

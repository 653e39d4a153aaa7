"""Memories of a project and of a person: list, add, edit, delete, and the switches."""

from typing import Literal

from fastapi import Query
from starlette.responses import Response

from outlast.apps.knowledge.memories import actions
from outlast.apps.knowledge.memories.shapes import (
    MemoryData,
    MemoryRequest,
    MemorySwitches,
    MemorySwitchesRequest,
    MemoryTextRequest,
)
from outlast.kernel.http.auth import Signed, Svc
from outlast.kernel.http.parameters import Limit
from outlast.kernel.http.responses import nothing, page, reply
from outlast.kernel.http.routers import noun_router
from outlast.kernel.http.shapes import Page

router = noun_router("Memories")


@router.get("/projects/{project_id}/memories", response_model=Page[MemoryData])
async def list_memories(
    project_id: str,
    services: Svc,
    actor: Signed,
    scope: Literal["run", "project", "person"] = "project",
    before: str | None = Query(None, max_length=100),
    limit: Limit = 50,
) -> Response:
    """List memories, newest first: the project's, the lines of its runs, or the caller's own (of all projects)."""
    found = await actions.list_memories(services, actor, project_id, scope, before, limit)
    return reply(page(found.items, found.next))


@router.post("/projects/{project_id}/memories", status_code=201, response_model=MemoryData)
async def add_memory(project_id: str, body: MemoryRequest, services: Svc, actor: Signed) -> Response:
    """Add a memory of the project (editors), or of the caller's own. The same text is stored once."""
    return reply(await actions.add_memory(services, actor, project_id, body.text, body.scope), 201)


@router.patch("/memories/{memory_id}", response_model=MemoryData)
async def edit_memory(memory_id: str, body: MemoryTextRequest, services: Svc, actor: Signed) -> Response:
    """Replace the text of a memory (editors of its project; of the caller's own: the caller)."""
    return reply(await actions.edit_memory(services, actor, memory_id, body.text))


@router.delete("/memories/{memory_id}", status_code=204)
async def delete_memory(memory_id: str, services: Svc, actor: Signed) -> Response:
    """Delete a memory (editors of its project; of the caller's own: the caller)."""
    await actions.delete_memory(services, actor, memory_id)
    return nothing()


@router.get("/projects/{project_id}/memory-switches", response_model=MemorySwitches)
async def read_memory_switches(project_id: str, services: Svc, actor: Signed) -> Response:
    """Whether memory is on for the server, the project and the caller."""
    return reply(await actions.read_switches(services, actor, project_id))


@router.patch("/projects/{project_id}/memory-switches", response_model=MemorySwitches)
async def change_memory_switches(
    project_id: str, body: MemorySwitchesRequest, services: Svc, actor: Signed
) -> Response:
    """Turn memory on or off for the project (owners), or for the caller in all projects. Nothing is deleted."""
    return reply(await actions.change_switches(services, actor, project_id, project=body.project, person=body.person))

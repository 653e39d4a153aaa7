"""Skills of a project."""

from typing import Annotated

from fastapi import File, Query, UploadFile
from starlette.responses import Response

from outlast.apps.skills import actions, shapes
from outlast.apps.skills.settings import NAME_CHARS, PATH_CHARS, SkillSettings
from outlast.base.errors import InputTooLarge
from outlast.kernel.http.auth import Signed, Svc
from outlast.kernel.http.responses import nothing, page, reply
from outlast.kernel.http.routers import noun_router
from outlast.kernel.http.shapes import Page

router = noun_router("Skills")
Files = Annotated[list[UploadFile], File()]
FilePath = Annotated[str, Query(max_length=PATH_CHARS)]


@router.post("/projects/{project_id}/skills", status_code=201, response_model=shapes.SkillAnswer)
async def create_skill(project_id: str, services: Svc, actor: Signed, file: Files, replace: bool = False) -> Response:
    """Add a skill to a project (owners): a zip of its folder, or its `SKILL.md`, as multipart field `file`; or all
    files of the folder, each as a field `file` with its path as the file name. `replace` replaces the project's skill
    of that name."""
    most, sizes = services.settings.of(SkillSettings).bytes, [one.size or 0 for one in file]
    if sum(sizes) > most:
        raise InputTooLarge(f"The files have {sum(sizes):,} bytes; at most {most:,} are accepted.", limit_bytes=most)
    sent = [(one.filename or "", await one.read()) for one in file]
    return reply(await actions.create_skill(services, actor, project_id, sent, replace=replace), 201)


@router.get("/projects/{project_id}/skills", response_model=Page[shapes.SkillAnswer])
async def list_skills(project_id: str, services: Svc, actor: Signed) -> Response:
    """List the skills of the project and of the server by name."""
    return reply(page(await actions.list_skills(services, actor, project_id)))


@router.get("/projects/{project_id}/skills/{skill_name}", response_model=shapes.SkillContentAnswer)
async def read_skill(project_id: str, skill_name: str, services: Svc, actor: Signed) -> Response:
    """Get a skill with its instructions and the list of its files."""
    return reply(await actions.read_skill(services, actor, project_id, skill_name[: NAME_CHARS + 1]))


@router.get("/projects/{project_id}/skills/{skill_name}/file", response_model=shapes.SkillTextAnswer)
async def read_skill_file(project_id: str, skill_name: str, services: Svc, actor: Signed, path: FilePath) -> Response:
    """Get the text of a file of a skill, at most 100,000 bytes."""
    return reply(await actions.read_file(services, actor, project_id, skill_name[: NAME_CHARS + 1], path))


@router.patch("/projects/{project_id}/skills/{skill_name}", response_model=shapes.SkillAnswer)
async def change_skill(
    project_id: str, skill_name: str, body: shapes.SkillPatch, services: Svc, actor: Signed
) -> Response:
    """Turn a skill on or off in the project (owners)."""
    name = skill_name[: NAME_CHARS + 1]
    return reply(await actions.switch_skill(services, actor, project_id, name, enabled=body.enabled))


@router.delete("/projects/{project_id}/skills/{skill_name}", status_code=204)
async def delete_skill(project_id: str, skill_name: str, services: Svc, actor: Signed) -> Response:
    """Delete a skill of the project (owners)."""
    await actions.delete_skill(services, actor, project_id, skill_name[: NAME_CHARS + 1])
    return nothing()

"""Polls over HTTP."""

from typing import Annotated

from fastapi import Body

from outlast.kernel.http.auth import Signed, Svc
from outlast.kernel.http.routers import noun_router
from tests.apps.polls import actions
from tests.apps.polls.shapes import PollData

router = noun_router("Polls")
Text = Annotated[str, Body(embed=True, min_length=1, max_length=200)]


@router.post("/projects/{project_id}/polls", status_code=201)
async def create_poll(project_id: str, title: Text, services: Svc, actor: Signed) -> PollData:
    """Make a poll (editors)."""
    return await actions.create_poll(services, actor, project_id, title)


@router.get("/projects/{project_id}/polls")
async def list_polls(project_id: str, services: Svc, actor: Signed) -> list[PollData]:
    """The polls of a project, oldest first."""
    return await actions.list_polls(services, actor, project_id)


@router.post("/polls/{poll_id}/votes")
async def vote(poll_id: str, option: Text, services: Svc, actor: Signed) -> PollData:
    """Vote for an option, instead of the one chosen before."""
    return await actions.vote(services, actor, poll_id, option)

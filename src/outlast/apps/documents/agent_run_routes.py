"""Start a run and wait for its answer, in one request."""

import anyio
from fastapi import Request
from starlette.responses import Response

from outlast.apps.documents.agent_run import run_agent
from outlast.apps.documents.agent_run_shapes import AgentRunAnswer, AgentRunOpen, AgentRunRequest
from outlast.base.errors import OutlastError
from outlast.kernel.http.auth import Signed, Svc
from outlast.kernel.http.parameters import Key
from outlast.kernel.http.responses import reply
from outlast.kernel.http.routers import noun_router
from outlast.kernel.http.surface import Surface

router = noun_router("Runs")


@router.post("/agent/run", response_model=AgentRunAnswer, responses={202: {"model": AgentRunOpen}})
async def run_agent_and_wait(
    body: AgentRunRequest, request: Request, services: Svc, actor: Signed, key: Key = None
) -> Response:
    """Post a message, start a run that answers it, and wait for the result: the message, the proposed edits
    and the tool calls. 202 if the run waits for a person, or continues after `timeoutS`. If the caller disconnects,
    the run continues; the same call with the same key waits for it again. A run that fails answers with its error.
    """
    surface: Surface = request.app.state.surface
    waiting = anyio.CancelScope()
    outcome: AgentRunAnswer | AgentRunOpen | OutlastError | None = None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_wait_for_leaving, request, waiting)
        surface.streams.enter(waiting)  # a server that stops releases the caller
        try:
            outcome = await run_agent(services, actor, body, key, waiting)
        except OutlastError as error:  # raised below: a group would wrap it
            outcome = error
        finally:
            surface.streams.leave(waiting)
            tasks.cancel_scope.cancel()
    if isinstance(outcome, OutlastError):
        raise outcome
    assert outcome is not None
    return reply(outcome, 202 if isinstance(outcome, AgentRunOpen) else 200)


async def _wait_for_leaving(request: Request, scope: anyio.CancelScope) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    scope.cancel()

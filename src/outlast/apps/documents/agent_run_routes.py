"""Start a run and wait for its answer, in one request."""

from typing import Any

import anyio
import orjson
from fastapi import APIRouter, Request
from starlette.responses import Response

from outlast.apps.documents.agent_run import AgentAnswer, StillOpen, run_agent
from outlast.apps.documents.agent_run_shapes import AgentRunAnswer, AgentRunOpen, AgentRunRequest
from outlast.apps.documents.proposals.shapes import EditData
from outlast.base.errors import OutlastError
from outlast.kernel.http.auth import Signed, Surface, Svc
from outlast.kernel.http.responses import reply
from outlast.kernel.runs.routes import Key

router = APIRouter(prefix="/v1", tags=["Runs"])


@router.post("/agent/run", response_model=AgentRunAnswer, responses={202: {"model": AgentRunOpen}})
async def run_agent_and_wait(
    body: AgentRunRequest, request: Request, services: Svc, actor: Signed, key: Key = None
) -> Response:
    """Post a message, start a run that answers it, and wait for what comes of it: the message, the edits that were
    proposed, the tool calls. 202 where the run waits for a person, or goes on after `timeoutS`. A caller that goes away
    leaves the run going; the same call under the same key waits for it again. A run that fails answers with its error.
    """
    surface: Surface = request.app.state.surface
    waiting = anyio.CancelScope()
    outcome: AgentAnswer | StillOpen | OutlastError | None = None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_wait_for_leaving, request, waiting)
        surface.streams.enter(waiting)  # a server that stops lets the caller go
        try:
            outcome = await run_agent(
                services,
                actor,
                body.context.thread_id,
                body.user_message,
                model=body.model,
                wait_s=body.timeout_s,
                key=key,
                waiting=waiting,
            )
        except OutlastError as error:  # raised below: a group would wrap it
            outcome = error
        finally:
            surface.streams.leave(waiting)
            tasks.cancel_scope.cancel()
    if isinstance(outcome, OutlastError):
        raise outcome
    assert outcome is not None
    return _shown(outcome)


async def _wait_for_leaving(request: Request, scope: anyio.CancelScope) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    scope.cancel()


def _shown(found: AgentAnswer | StillOpen) -> Response:
    if isinstance(found, StillOpen):
        waits = {"pending": found.pending, "status": found.status}
        return reply({**waits, "threadId": found.thread_id, "runId": found.run_id}, 202)
    return reply(
        {
            "message": found.message,
            "proposedEdits": [_edit(edit) for edit in found.edits],
            "toolCalls": [_call(part) for part in found.calls],
            "proposalId": found.proposal_id,
            "threadId": found.thread_id,
            "runId": found.run_id,
            "messageId": found.message_id,
        }
    )


def _edit(edit: EditData) -> dict[str, Any]:
    return {
        "editId": edit.id,
        "op": edit.op,
        "blockId": edit.block_id,
        "sectionId": edit.section_id,
        "afterId": edit.after_id,
        "heading": edit.heading,
        "level": edit.level,
        "oldText": edit.old_text,
        "newText": edit.new_text,
    }


def _call(part: Any) -> dict[str, Any]:
    named = {name: part[name] for name in ("tool", "status", "result")}
    return {"id": part["call_id"], "arguments": _arguments(part["arguments"]), **named}


def _arguments(text: str) -> Any:
    try:
        return orjson.loads(text or "{}")
    except orjson.JSONDecodeError:
        return text

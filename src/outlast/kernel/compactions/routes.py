"""Summaries of a thread's oldest messages."""

from starlette.responses import Response

from outlast.kernel.compactions import actions
from outlast.kernel.http.auth import Signed, Svc
from outlast.kernel.http.responses import nothing
from outlast.kernel.http.routers import noun_router

router = noun_router("Threads", prefix="/v1/threads/{thread_id}")


@router.delete("/compactions/{compaction_id}", status_code=204)
async def undo_compaction(thread_id: str, compaction_id: str, services: Svc, actor: Signed) -> Response:
    """Undo a summary of earlier messages: the agent reads the messages themselves again (editors). They are summarized
    again only if they do not fit into the model's context. Repeating is harmless."""
    await actions.undo_compaction(services, actor, thread_id, compaction_id)
    return nothing()

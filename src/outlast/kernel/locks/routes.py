"""The driver of a thread; typing."""

from starlette.responses import Response

from outlast.kernel.http.auth import Signed, Svc
from outlast.kernel.http.responses import nothing, reply
from outlast.kernel.http.routers import noun_router
from outlast.kernel.locks import actions
from outlast.kernel.presence import actions as presence
from outlast.kernel.threads.shapes import HandOverRequest, LockAnswer, LockRequest, TypingRequest

router = noun_router("Locks", prefix="/v1/threads/{thread_id}")


@router.put("/lock", response_model=LockAnswer)
async def take_lock(thread_id: str, services: Svc, actor: Signed, body: LockRequest | None = None) -> Response:
    """Drive the thread: acquire a free lock, refresh your own, take over an expired one (editors)."""
    return reply({"lock": await actions.take_lock(services, actor, thread_id)})


@router.delete("/lock", status_code=204)
async def release_lock(thread_id: str, services: Svc, actor: Signed) -> Response:
    """Stop driving. Repeating is harmless."""
    await actions.release_lock(services, actor, thread_id)
    return nothing()


@router.post("/lock/request", response_model=LockAnswer)
async def request_lock(thread_id: str, services: Svc, actor: Signed) -> Response:
    """Ask the driver for a hand-over (editors)."""
    return reply({"lock": await actions.request_lock(services, actor, thread_id)})


@router.post("/lock/handover", response_model=LockAnswer)
async def hand_over_lock(thread_id: str, body: HandOverRequest, services: Svc, actor: Signed) -> Response:
    """Make another member the driver."""
    return reply({"lock": await actions.hand_over_lock(services, actor, thread_id, body.user_id)})


@router.post("/typing", status_code=204)
async def set_typing(thread_id: str, body: TypingRequest, services: Svc, actor: Signed) -> Response:
    """Show other members that the caller types, for 6 seconds or until typing ends."""
    await presence.set_typing(services, actor, thread_id, body.typing)
    return nothing()

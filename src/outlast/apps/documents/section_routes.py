"""Locks of sections."""

from starlette.responses import Response

from outlast.apps.documents import section_locks as actions
from outlast.kernel.http.auth import Signed, Svc
from outlast.kernel.http.responses import nothing, reply
from outlast.kernel.http.routers import noun_router
from outlast.kernel.threads.shapes import HandOverRequest, LockAnswer, LockRequest

router = noun_router("Locks", prefix="/v1/sections/{section_id}")


@router.get("/lock", response_model=LockAnswer)
async def read_section_lock(section_id: str, services: Svc, actor: Signed) -> Response:
    """The lock of the section."""
    return reply({"lock": await actions.read_section_lock(services, actor, section_id)})


@router.put("/lock", response_model=LockAnswer)
async def take_section_lock(section_id: str, services: Svc, actor: Signed, body: LockRequest | None = None) -> Response:
    """Lock the section: no other member can change it until you release the lock or it expires; each of your edits
    renews it (editors). A free lock is acquired, an expired one taken over."""
    return reply({"lock": await actions.take_section_lock(services, actor, section_id)})


@router.delete("/lock", status_code=204)
async def release_section_lock(section_id: str, services: Svc, actor: Signed) -> Response:
    """Release the lock of the section. Repeating is harmless."""
    await actions.release_section_lock(services, actor, section_id)
    return nothing()


@router.post("/lock/request", response_model=LockAnswer)
async def request_section_lock(section_id: str, services: Svc, actor: Signed) -> Response:
    """Ask the holder of the lock for it (editors)."""
    return reply({"lock": await actions.request_section_lock(services, actor, section_id)})


@router.post("/lock/handover", response_model=LockAnswer)
async def hand_over_section_lock(section_id: str, body: HandOverRequest, services: Svc, actor: Signed) -> Response:
    """Hand your lock over to another member."""
    return reply({"lock": await actions.hand_over_section_lock(services, actor, section_id, body.user_id)})

"""The lock of a thread's driver: take it, release it, request it, hand it over."""

from outlast.kernel.accounts.actor import Actor
from outlast.kernel.locks import thread_locks
from outlast.kernel.locks.shapes import LockData
from outlast.kernel.services import Services, in_write

release_lock, request_lock = in_write(thread_locks.release), in_write(thread_locks.request)


async def take_lock(services: Services, actor: Actor, thread_id: str) -> LockData:
    """See `thread_locks.take`."""
    return await services.db.write(thread_locks.take, actor, thread_id, services.settings.locks.ttl_s)


async def hand_over_lock(services: Services, actor: Actor, thread_id: str, user_id: str) -> LockData:
    """See `thread_locks.hand_over`."""
    return await services.db.write(thread_locks.hand_over, actor, thread_id, user_id, services.settings.locks.ttl_s)

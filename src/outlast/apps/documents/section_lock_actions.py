"""The lock of a section, for routes: each verb of `section_locks.py` in one transaction."""

from outlast.apps.documents import section_locks
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.locks.shapes import LockData
from outlast.kernel.services import Services, in_read, in_write

read_section_lock = in_read(section_locks.read)
release_section_lock = in_write(section_locks.release)
request_section_lock = in_write(section_locks.request)


async def take_section_lock(services: Services, actor: Actor, section_id: str) -> LockData:
    """See `section_locks.take`."""
    return await services.db.write(section_locks.take, actor, section_id, services.settings.locks.ttl_s)


async def hand_over_section_lock(services: Services, actor: Actor, section_id: str, user_id: str) -> LockData:
    """See `section_locks.hand_over`."""
    ttl_s = services.settings.locks.ttl_s
    return await services.db.write(section_locks.hand_over, actor, section_id, user_id, ttl_s)

"""The log of secrets in use: which request to which host carried which secret. Values are nowhere in it."""

from dataclasses import dataclass
from functools import partial

from outlast.base.clock import iso
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.projects.permissions import require
from outlast.kernel.projects.rules import Right
from outlast.kernel.sandboxes.egress import store
from outlast.kernel.sandboxes.egress.store import KeptUse
from outlast.kernel.services import Services


@dataclass(frozen=True, slots=True)
class SecretUseView:
    """One request that carried a secret. `path` is without its query; `status` None: no answer came; `user_id` whom
    the work was done for."""

    id: str
    project_id: str
    sandbox_id: str
    user_id: str | None
    secret: str
    host: str
    method: str
    path: str
    status: int | None
    at: str


@dataclass(frozen=True, slots=True)
class SecretUseList:
    """Uses, newest first; `next` is the one to ask for older ones with (None: there are none)."""

    items: list[SecretUseView]
    next: str | None


async def list_secret_uses(
    services: Services,
    actor: Actor,
    project_id: str,
    *,
    before: int | None,
    limit: int,
    sandbox_id: str | None,
    secret: str | None,
) -> SecretUseList:
    """The project's uses of secrets (editors), optionally those of one sandbox or one secret. A use is listed at most
    half a second after its answer began."""
    run = partial(_list, actor, project_id, before, limit, sandbox_id, secret)
    found = await services.db.read(run)
    items = [_view(kept) for kept in found[:limit]]
    return SecretUseList(items, items[-1].id if len(found) > limit else None)


def _list(
    actor: Actor,
    project_id: str,
    before: int | None,
    limit: int,
    sandbox_id: str | None,
    secret: str | None,
    tx: Tx,
) -> list[KeptUse]:
    require(tx, actor, project_id, Right.EDIT)
    return store.uses_of(tx, project_id, limit + 1, before, sandbox_id, secret)


def _view(kept: KeptUse) -> SecretUseView:
    use = kept.use
    return SecretUseView(
        id=str(kept.id),
        project_id=use.project_id,
        sandbox_id=use.sandbox_id,
        user_id=use.user_id,
        secret=use.secret,
        host=use.host,
        method=use.method,
        path=use.path,
        status=use.status,
        at=iso(use.at),
    )

"""The log of secrets in use: which request to which host carried which secret. Values are nowhere in it."""

from functools import partial

from outlast.base.clock import iso
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.lists import Listed
from outlast.kernel.projects.permissions import require
from outlast.kernel.projects.rules import Right
from outlast.kernel.sandboxes.egress import store
from outlast.kernel.sandboxes.egress.shapes import SecretUseAnswer
from outlast.kernel.sandboxes.egress.store import KeptUse
from outlast.kernel.services import Services


async def list_secret_uses(
    services: Services,
    actor: Actor,
    project_id: str,
    *,
    before: int | None,
    limit: int,
    sandbox_id: str | None,
    secret: str | None,
) -> Listed[SecretUseAnswer, str]:
    """The project's uses of secrets (editors), optionally those of one sandbox or one secret. A use is listed at most
    half a second after its answer began."""
    run = partial(_list, actor, project_id, before, limit, sandbox_id, secret)
    found = await services.db.read(run)
    items = [_view(kept) for kept in found[:limit]]
    return Listed(items, items[-1].id if len(found) > limit else None)


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


def _view(kept: KeptUse) -> SecretUseAnswer:
    use = kept.use
    return SecretUseAnswer(
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

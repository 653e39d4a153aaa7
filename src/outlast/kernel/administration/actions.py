"""Actions of administrators: users with their plans and credits, and items that are set aside. Each action requires an
administrator."""

from collections.abc import Callable, Mapping
from typing import Final

from outlast.base.errors import LastAdministrator, MalformedInput, NotDeletable
from outlast.base.supervision.item_guard import SetAside
from outlast.db.database import Tx
from outlast.kernel.accounts import store as accounts
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.accounts.rows import UserRow
from outlast.kernel.administration.shapes import SetAsideAnswer, UserSummaryAnswer
from outlast.kernel.credits import store as ledger
from outlast.kernel.credits.rules import check_granted
from outlast.kernel.credits.store import Plans
from outlast.kernel.lists import Listed
from outlast.kernel.projects.permissions import require_administrator
from outlast.kernel.projects.rules import leaves_an_administrator
from outlast.kernel.row_shapes import shape_of
from outlast.kernel.runs import timers
from outlast.kernel.sandboxes import store as sandbox_rows
from outlast.kernel.services import Services, in_read, in_read_with_services, in_write, in_write_with_services
from outlast.kernel.set_aside import kinds
from outlast.kernel.set_aside import store as set_aside


@in_read_with_services
def list_users(
    tx: Tx, services: Services, actor: Actor, query: str = "", after: str | None = None, limit: int = 50
) -> Listed[UserSummaryAnswer, str]:
    """A page of users, the newest first. `limit`: 1 to 200."""
    require_administrator(tx, actor)
    rows = accounts.find_users(tx, query.strip(), after, limit + 1)
    page = [summarize(tx, services.settings.credits.plans, row) for row in rows[:limit]]
    return Listed(page, page[-1].id if len(rows) > limit else None)


@in_write_with_services
def change_user(
    tx: Tx, services: Services, actor: Actor, user_id: str, plan: str | None = None, is_admin: bool | None = None
) -> UserSummaryAnswer:
    """Move a user to another plan, or add or remove the right to administer (None leaves it unchanged). Raises
    `NotFound`, `LastAdministrator`, and `MalformedInput` for a plan that is not configured."""
    require_administrator(tx, actor)
    if plan is not None:
        move_to_plan(tx, services.settings.credits.plans, user_id, plan)
    if is_admin is not None:
        make_administrator(tx, user_id, is_admin)
    return summarize(tx, services.settings.credits.plans, accounts.user(tx, user_id))


@in_write_with_services
def grant_credits(tx: Tx, services: Services, actor: Actor, user_id: str, amount: int) -> UserSummaryAnswer:
    """Give a user credits for this month, on top of the plan's. Raises `MalformedInput` if the plan is unlimited."""
    require_administrator(tx, actor)
    give_credits(tx, services.settings.credits.plans, user_id, amount)
    return summarize(tx, services.settings.credits.plans, accounts.user(tx, user_id))


@in_read
def list_set_aside(tx: Tx, actor: Actor) -> list[SetAsideAnswer]:
    """The items that are set aside, newest first, at most 500."""
    require_administrator(tx, actor)
    titles = kinds.TITLES
    return [
        shape_of(SetAsideAnswer, item, title=titles.get(item.kind, item.kind), deletable=item.kind in _GIVE_UP)
        for item in set_aside.listed(tx)
    ]


async def retry_set_aside(services: Services, actor: Actor, kind: str, item_id: str) -> SetAside:
    """Retry an item on every node, as if it had never failed. Returns the item. Raises `NotFound`."""

    def change(tx: Tx) -> SetAside:
        require_administrator(tx, actor)
        return set_aside.remove(tx, kind, item_id)

    found = await services.db.write(change)
    services.supervisor.guard.forget(kind, item_id)
    return found


@in_write
def delete_set_aside(tx: Tx, actor: Actor, kind: str, item_id: str) -> SetAside:
    """Give an item up permanently: a timer is removed; the files of a deleted workspace stay on disk and are never
    collected. Returns the item. Raises `NotFound`, and `NotDeletable` for a kind that has its own delete action (a
    source, a file, a sandbox)."""
    require_administrator(tx, actor)
    found = set_aside.remove(tx, kind, item_id)
    give_up = _GIVE_UP.get(kind)
    if give_up is None:
        raise NotDeletable("Items of this kind cannot be given up.", kind=kind)
    give_up(tx, item_id)
    return found


def _give_up_timer(tx: Tx, item_id: str) -> None:
    kind, _, subject_id = item_id.partition(":")
    timers.clear_timers(tx, subject_id, kind)


_GIVE_UP: Final[Mapping[str, Callable[[Tx, str], None]]] = {
    kinds.TIMER: _give_up_timer,
    kinds.WORKSPACE_REMOVAL: sandbox_rows.collected,
}


def move_to_plan(tx: Tx, plans: Plans, user_id: str, plan: str) -> None:
    """Move a user to another plan; its allowance counts from the next month on. Raises `NotFound`, `MalformedInput`."""
    if plan not in plans:
        raise MalformedInput(f"There is no plan with this name. Plans: {', '.join(sorted(plans))}.", field="plan")
    accounts.change_user(tx, user_id, plan=plan)


def make_administrator(tx: Tx, user_id: str, is_admin: bool) -> None:
    """Let a user administer the server, or remove this right. Raises `NotFound`, `LastAdministrator`."""
    administrators = accounts.hold_administrators(tx)
    if not leaves_an_administrator(len(administrators), user_id in administrators, is_admin):
        raise LastAdministrator("This user is the only administrator of the server.", user_id=user_id)
    accounts.change_user(tx, user_id, is_admin=is_admin)


def give_credits(tx: Tx, plans: Plans, user_id: str, amount: int) -> int:
    """Give a user credits for this month; returns the balance. Raises `NotFound`, `MalformedInput`."""
    check_granted(amount)
    balance = ledger.grant(tx, user_id, amount, plans)
    if balance is None:
        raise MalformedInput("The user's plan is unlimited: there is nothing to grant.", field="credits")
    return balance


def summarize(tx: Tx, plans: Plans, row: UserRow) -> UserSummaryAnswer:
    """A user's row with the balance, which is null if the plan is no longer configured."""
    known = row.plan in plans
    balance, allowance = (ledger.balance(tx, row.id, plans), plans[row.plan]) if known else (0, 0)
    return shape_of(UserSummaryAnswer, row, balance=balance, allowance=allowance)

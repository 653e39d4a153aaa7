"""Signing in and out, API tokens, the current user."""

from datetime import timedelta

from outlast.base.errors import NotSignedIn
from outlast.db.connect import one_at_a_time
from outlast.db.database import Tx
from outlast.kernel.accounts import store as accounts
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.accounts.rows import UserRow
from outlast.kernel.accounts.secrets import days
from outlast.kernel.accounts.shapes import NewTokenAnswer, TokenAnswer
from outlast.kernel.accounts.tables import tokens as tokens_table
from outlast.kernel.limits.rules import checked_line
from outlast.kernel.limits.store import check_made_rate
from outlast.kernel.projects import store as projects
from outlast.kernel.services import Services, in_write_with_services


@in_write_with_services
def ensure_local_owner(tx: Tx, services: Services) -> Actor:
    """The owner that local mode signs in automatically, created with a default project at the first start."""
    one_at_a_time(tx.conn)
    row = accounts.ensure_local_owner(tx, services.settings.credits.default_plan)
    projects.ensure_default_project(tx, row.id)
    return Actor(row.id, row.name, "local")


async def actor_for_token(services: Services, secret: str) -> Actor:
    """The user of an API token; its use is recorded at most once a minute. Raises `NotSignedIn`."""
    found = await services.db.read(accounts.actor_for_token, secret)
    if found is None:
        raise NotSignedIn("The API token is unknown, expired or revoked.")
    actor, is_stale = found
    if is_stale and actor.token_id is not None:
        await services.db.write(accounts.touch_token, actor.token_id)
    return actor


async def actor_for_session(services: Services, cookie: str) -> Actor | None:
    """The user of a browser's cookie; None when its session has ended."""
    return await services.db.read(accounts.actor_for_session, cookie)


async def open_session(services: Services, actor: Actor) -> str:
    """A cookie value that signs this actor in for `auth.session_days`, or until the token it was exchanged for ends."""
    life = session_life(services)
    return await services.db.write(accounts.add_session, actor.user_id, actor.token_id, life)


def session_life(services: Services) -> timedelta:
    """The time that a browser stays signed in."""
    return timedelta(days=services.settings.auth.session_days)


async def end_session(services: Services, cookie: str) -> None:
    """Sign a browser out. Repeating is harmless; an unknown cookie writes nothing."""
    if await services.db.read(accounts.has_session, cookie):
        await services.db.write(accounts.end_session, cookie)


async def read_me(services: Services, actor: Actor) -> tuple[UserRow, str]:
    """The actor's row, and the id of their default project (created if there is none)."""

    def find(tx: Tx) -> tuple[UserRow, str | None]:
        return accounts.user(tx, actor.user_id), projects.find_default_project(tx, actor.user_id)

    row, project_id = await services.db.read(find)
    if project_id is None:
        project_id = await services.db.write(projects.ensure_default_project, actor.user_id)
    return row, project_id


async def list_tokens(services: Services, actor: Actor) -> list[TokenAnswer]:
    """The actor's own tokens, newest first, without their secrets."""
    return await services.db.read(accounts.list_tokens, actor.user_id)


@in_write_with_services
def create_token(
    tx: Tx, services: Services, actor: Actor, name: str, expires_in_days: float | None = None
) -> NewTokenAnswer:
    """Create an API token with all rights of the actor. Only this answer has its secret."""
    limits = services.settings.limits
    title = checked_line("The token's name", name, limits.title_chars)
    life = days("expires_in_days", expires_in_days)
    check_made_rate(tx, tokens_table, actor.user_id, limits.tokens_per_minute_per_user, by="user_id")
    return accounts.add_token(tx, actor.user_id, title, None if life is None else tx.now + life)


async def revoke_token(services: Services, actor: Actor, token_id: str) -> None:
    """Revoke one of the actor's own tokens, and end its sessions. Repeating is harmless."""
    await services.db.write(accounts.revoke_token, actor.user_id, token_id)

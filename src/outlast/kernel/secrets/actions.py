"""Saved secrets: who declares them, and who enters values. Values go in and never come out.

A project's owners declare its secrets, administrators those of the whole server. A declared secret has a value for
everybody, or each person enters their own, which goes first in the runs that they start. And a person may save secrets
of their own, which no one else sees.
"""

from collections.abc import Sequence

from outlast.base.errors import MalformedInput
from outlast.base.lookups import demand_found
from outlast.base.secret_errors import SecretNameTaken, TooManySecrets
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.projects.permissions import require, require_administrator
from outlast.kernel.projects.rules import Right
from outlast.kernel.sandboxes.egress.store import forget_uses
from outlast.kernel.secrets import store
from outlast.kernel.secrets.rows import SecretRow
from outlast.kernel.secrets.rules import checked_hosts, checked_name
from outlast.kernel.secrets.shapes import SecretAnswer
from outlast.kernel.services import Services, in_read, in_write, in_write_with_services
from outlast.kernel.subjects.rules import demand_room
from outlast_sandbox.egress.secrets import is_usable


@in_read
def list_secrets(tx: Tx, actor: Actor, project_id: str | None) -> list[SecretAnswer]:
    """The saved secrets for sandboxes of the project (editors), or of the server for None (administrators)."""
    _require(tx, actor, project_id, Right.EDIT)
    return store.list_secrets(tx, actor.user_id, project_id)


@in_read
def list_own_secrets(tx: Tx, actor: Actor) -> list[SecretAnswer]:
    """The actor's own secrets."""
    return store.list_own(tx, actor.user_id)


@in_write_with_services
def create_own_secret(
    tx: Tx, services: Services, actor: Actor, name: str, hosts: Sequence[str], value: str
) -> SecretAnswer:
    """Save a secret of the actor's own: for the runs that they start, in every project, and for no one else to see. It
    goes before another of the same name. Raises as `create_secret`."""
    return _create(tx, services, actor, None, name, hosts, value, actor.user_id)


@in_write_with_services
def create_secret(
    tx: Tx, services: Services, actor: Actor, project_id: str | None, name: str, hosts: Sequence[str], value: str | None
) -> SecretAnswer:
    """Declare a secret, with a value for everybody or without. Raises `MalformedInput`, `SecretHostRefused`,
    `SecretNameTaken` (by the configuration too), `TooManySecrets`."""
    _require(tx, actor, project_id, Right.OWN)
    return _create(tx, services, actor, project_id, name, hosts, value)


def _create(
    tx: Tx,
    services: Services,
    actor: Actor,
    project_id: str | None,
    name: str,
    hosts: Sequence[str],
    value: str | None,
    owner_id: str | None = None,
) -> SecretAnswer:
    settings, sandbox = services.settings.secrets, services.settings.sandbox
    found = checked_hosts(hosts, settings.hosts)
    known = len(store.names_in(tx, project_id, owner_id))
    demand_room(TooManySecrets, "secrets", project_id or "", known, settings.most_per_project)
    configured = {one.secret_env for one in sandbox.dependencies} if sandbox is not None else set()
    configured |= {one.variable for one in services.accounts.oauth.services.values()}
    is_taken = checked_name(name) in configured
    secret_id = None if is_taken else store.add(tx, project_id, name, found, actor.user_id, owner_id)
    if secret_id is None:
        raise SecretNameTaken(f"There is already a secret {name}.", name=name)
    if value is not None:
        store.put_value(tx, services.vault, secret_id, _usable(value))
    return store.answer_of(tx, actor.user_id, secret_id)


@in_write_with_services
def change_secret(
    tx: Tx, services: Services, actor: Actor, secret_id: str, hosts: Sequence[str] | None, value: str | None
) -> SecretAnswer:
    """Change its hosts or the value for everybody. With other hosts, people's own values are forgotten."""
    row = _require_secret(tx, actor, secret_id, Right.OWN)
    found = None if hosts is None else checked_hosts(hosts, services.settings.secrets.hosts)
    if found is not None and found != row.hosts:
        if row.sealed is not None and value is None:
            raise MalformedInput(
                "Enter the value again: the present one was entered for the earlier hosts.", field="value"
            )
        store.change_hosts(tx, secret_id, found)
    if value is not None:
        store.put_value(tx, services.vault, secret_id, _usable(value))
    return store.answer_of(tx, actor.user_id, secret_id)


@in_write
def delete_secret(tx: Tx, actor: Actor, secret_id: str) -> None:
    """Delete a secret with all its values; with one of the actor's own, also the log of its uses, which only they could
    read."""
    row = _require_secret(tx, actor, secret_id, Right.OWN)
    if row.owner_id is not None:
        forget_uses(tx, row.owner_id, row.name)
    store.remove(tx, secret_id)


@in_write_with_services
def set_own_value(tx: Tx, services: Services, actor: Actor, secret_id: str, value: str) -> SecretAnswer:
    """Enter the caller's own value, for the runs that they start."""
    _require_secret(tx, actor, secret_id, Right.EDIT)
    store.put_own_value(tx, services.vault, secret_id, actor.user_id, _usable(value))
    return store.answer_of(tx, actor.user_id, secret_id)


@in_write
def forget_own_value(tx: Tx, actor: Actor, secret_id: str) -> SecretAnswer:
    """Forget the caller's own value."""
    _require_secret(tx, actor, secret_id, Right.EDIT)
    store.remove_own_value(tx, secret_id, actor.user_id)
    return store.answer_of(tx, actor.user_id, secret_id)


def _require(tx: Tx, actor: Actor, project_id: str | None, right: Right) -> None:
    if project_id is None:
        require_administrator(tx, actor)
    else:
        require(tx, actor, project_id, right)


def _require_secret(tx: Tx, actor: Actor, secret_id: str, right: Right) -> SecretRow:
    """The secret's row. Everybody may enter their own value of one of the server's; the rest is for administrators. A
    person's own is theirs alone."""
    row = store.secret_of(tx, secret_id)
    if row.owner_id is not None:
        return demand_found(row if row.owner_id == actor.user_id else None, store.NO_SECRET, id=secret_id)
    if row.project_id is not None or right is Right.OWN:
        _require(tx, actor, row.project_id, right)
    return row


def _usable(value: str) -> str:
    if not is_usable(value):
        raise MalformedInput("The value has characters that cannot be sent in a header.", field="value")
    return value

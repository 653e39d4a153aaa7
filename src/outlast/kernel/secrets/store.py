"""Queries of saved secrets. First argument: the open transaction."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import sqlalchemy as sa

from outlast.base.clock import iso
from outlast.base.ids import new_id
from outlast.base.lookups import demand_found
from outlast.db.database import Tx
from outlast.kernel.secrets.rows import SecretRow
from outlast.kernel.secrets.shapes import SecretAnswer
from outlast.kernel.secrets.tables import secret_values, secrets
from outlast.kernel.secrets.vault import Vault

NO_SECRET: Final = "There is no such secret for you."
_OWN: Final = sa.and_(secret_values.c.secret_id == secrets.c.id, secret_values.c.user_id == sa.bindparam("user"))
_OF_SERVER: Final = sa.and_(secrets.c.project_id.is_(None), secrets.c.owner_id.is_(None))
_REACHABLE: Final = sa.or_(
    secrets.c.project_id == sa.bindparam("project"), _OF_SERVER, secrets.c.owner_id == sa.bindparam("user")
)
_OWN_FIRST: Final = secrets.c.owner_id.is_(None), secrets.c.project_id.is_(None), secrets.c.name
_SEALED: Final = (
    sa.select(secrets.c.id, secrets.c.owner_id, secrets.c.sealed, secret_values.c.sealed.label("own"))
    .select_from(secrets.outerjoin(secret_values, _OWN))
    .where(_REACHABLE, secrets.c.name == sa.bindparam("name"))
    .order_by(*_OWN_FIRST)
    .limit(1)
)
_HOSTS: Final = sa.select(secrets.c.name, secrets.c.hosts).where(_REACHABLE).order_by(*_OWN_FIRST)


class SealedSecret(NamedTuple):
    """A secret's values: for everybody, and the user's own, which goes first. `owner_id`: whose the secret is, if it is
    a person's own."""

    id: str
    owner_id: str | None
    sealed: str | None
    own: str | None


class OpenedHosts(NamedTuple):
    """A secret's name, and the hosts that it opens to sandboxes."""

    name: str
    hosts: list[str]


def sealed_of(tx: Tx, project_id: str, user_id: str | None, name: str) -> SealedSecret | None:
    """The saved secret of this name for sandboxes of the project, with the values for this user: their own secret
    goes before the project's, and that before the server's. None: there is none of this name."""
    return tx.row(SealedSecret, _SEALED, {"project": project_id, "user": user_id or "", "name": name})


def hosts_of(tx: Tx, project_id: str, user_id: str | None) -> list[OpenedHosts]:
    """The secrets for sandboxes of the project in which this user works, each name once."""
    found: dict[str, OpenedHosts] = {}
    for row in tx.rows(OpenedHosts, _HOSTS, {"project": project_id, "user": user_id or ""}):
        found.setdefault(row.name, row)
    return list(found.values())


def list_secrets(tx: Tx, user_id: str, project_id: str | None) -> list[SecretAnswer]:
    """The secrets for sandboxes of the project in which the user works: theirs, then its own, then the server's; for
    None only those of the server."""
    mine = _REACHABLE if project_id is not None else _OF_SERVER
    query = sa.select(secrets).where(mine).order_by(*_OWN_FIRST)
    rows = tx.rows(SecretRow, query, {"project": project_id, "user": user_id} if project_id is not None else None)
    owned = _with_own_value(tx, user_id, rows)
    return [_answer(row, owned=row.id in owned) for row in rows]


def secret_of(tx: Tx, secret_id: str) -> SecretRow:
    """Raises `NotFound`."""
    row = tx.find(SecretRow, secrets, {"id": secret_id})
    return demand_found(row, NO_SECRET, id=secret_id)


def answer_of(tx: Tx, user_id: str, secret_id: str) -> SecretAnswer:
    """The secret as this user may use it."""
    row = secret_of(tx, secret_id)
    return _answer(row, owned=bool(_with_own_value(tx, user_id, [row])))


def list_own(tx: Tx, user_id: str) -> list[SecretAnswer]:
    """The secrets that are a person's own."""
    query = sa.select(secrets).where(secrets.c.owner_id == user_id).order_by(secrets.c.name)
    return [_answer(row, owned=False) for row in tx.rows(SecretRow, query)]


def names_in(tx: Tx, project_id: str | None, owner_id: str | None = None) -> list[str]:
    """Names of the project's secrets, or of a person's own; for None and None of the server's."""
    mine = secrets.c.project_id == project_id if project_id is not None else _OF_SERVER
    mine = mine if owner_id is None else secrets.c.owner_id == owner_id
    return list(tx.execute(sa.select(secrets.c.name).where(mine)).scalars())


def add(
    tx: Tx, project_id: str | None, name: str, hosts: Sequence[str], user_id: str, owner_id: str | None = None
) -> str | None:
    """Add a secret without a value. Returns its id, or None if the name is taken."""
    secret_id = new_id("secret")
    moments = {"created_at": tx.now, "updated_at": tx.now}
    row = {"id": secret_id, "project_id": project_id, "owner_id": owner_id, "created_by": user_id}
    named = {"name": name, "hosts": list(hosts)}
    return secret_id if tx.insert_missing(secrets, **row, **named, sealed=None, **moments) else None


def change_hosts(tx: Tx, secret_id: str, hosts: Sequence[str]) -> None:
    """Change the hosts. Every person's own value goes: they entered it for the earlier ones."""
    tx.update(secrets, {"id": secret_id}, hosts=list(hosts), updated_at=tx.now)
    tx.execute(sa.delete(secret_values).where(secret_values.c.secret_id == secret_id))


def put_value(tx: Tx, vault: Vault, secret_id: str, value: str) -> None:
    """Replace the value for everybody."""
    tx.update(secrets, {"id": secret_id}, sealed=vault.seal(tx, value, about(secret_id)), updated_at=tx.now)


def put_own_value(tx: Tx, vault: Vault, secret_id: str, user_id: str, value: str) -> None:
    """Replace a person's own value."""
    sealed = vault.seal(tx, value, about(secret_id, user_id))
    if not tx.insert_missing(secret_values, secret_id=secret_id, user_id=user_id, sealed=sealed, updated_at=tx.now):
        tx.update(secret_values, {"secret_id": secret_id, "user_id": user_id}, sealed=sealed, updated_at=tx.now)


def remove_own_value(tx: Tx, secret_id: str, user_id: str) -> None:
    """Forget a person's own value. Repeating is harmless."""
    mine = secret_values.c.secret_id == secret_id, secret_values.c.user_id == user_id
    tx.execute(sa.delete(secret_values).where(*mine))


def remove(tx: Tx, secret_id: str) -> None:
    """Delete a secret with all its values."""
    tx.execute(sa.delete(secrets).where(secrets.c.id == secret_id))


def about(secret_id: str, user_id: str = "") -> str:
    """What a value is sealed for (see `Vault`)."""
    return f"secret_values.sealed {secret_id} {user_id}" if user_id else f"secrets.sealed {secret_id}"


def _with_own_value(tx: Tx, user_id: str, rows: Sequence[SecretRow]) -> set[str]:
    mine = secret_values.c.user_id == user_id, secret_values.c.secret_id.in_([row.id for row in rows])
    return set(tx.execute(sa.select(secret_values.c.secret_id).where(*mine)).scalars())


def _answer(row: SecretRow, *, owned: bool) -> SecretAnswer:
    return SecretAnswer(
        id=row.id,
        project_id=row.project_id,
        is_own=row.owner_id is not None,
        name=row.name,
        hosts=row.hosts,
        has_value=row.sealed is not None,
        has_own_value=owned,
        created_by=row.created_by,
        created_at=iso(row.created_at),
        updated_at=iso(row.updated_at),
    )

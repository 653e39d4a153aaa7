"""External hosts of pictures in screens: requested when a browser blocks a picture, allowed by a member.

First argument: the open transaction.
"""

from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

import sqlalchemy as sa

from outlast.apps.screens.rows import ScreenImageHostRow
from outlast.apps.screens.shapes import ImageHostAnswer
from outlast.apps.screens.tables import screen_image_hosts as table
from outlast.apps.screens.tables import screens
from outlast.base.errors import MalformedInput, NotFound
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import ACCESS_BELL
from outlast.kernel.row_shapes import shape_of
from outlast_sandbox.host_patterns import NotAHost, is_address, plain_host

MAX_HOSTS: Final = 50  # of one screen, requested and allowed


def host_of(address: str) -> str | None:
    """The host of a picture's address, with its port if that is not the default, or None if it may not be
    requested: numbers and names without a dot are in the reader's own network."""
    try:
        parts = urlsplit(address)
        host, port = plain_host(parts.hostname or ""), parts.port
    except (ValueError, NotAHost):
        return None
    if parts.scheme not in ("http", "https") or is_address(host) or "." not in host or "_" in host:
        return None
    return host if port in (None, 80, 443) else f"{host}:{port}"


def checked_host(text: str) -> str:
    """A host in the form of `host_of`: at most 253 characters. Raises `MalformedInput`."""
    host = host_of(f"https://{text.strip().lower()}")
    if host is None or "/" in text or "@" in text:
        raise MalformedInput(
            "This is not a host name.", hint="Write a name like images.example.org, without https://.", field="host"
        )
    return host


def list_image_hosts(tx: Tx, screen_id: str) -> list[ImageHostAnswer]:
    """The hosts of a screen, by name."""
    rows = tx.rows(ScreenImageHostRow, sa.select(table).where(table.c.screen_id == screen_id).order_by(table.c.host))
    return [shape_of(ImageHostAnswer, row) for row in rows]


def allowed_in(tx: Tx, workspace_id: str) -> tuple[str, ...]:
    """The hosts allowed for the screen with this workspace; none if no screen has it."""
    mine = screens.c.workspace_id == workspace_id, table.c.allowed_at.is_not(None)
    joined = table.join(screens, screens.c.id == table.c.screen_id)
    found = sa.select(table.c.host).select_from(joined).where(*mine).order_by(table.c.host)
    return tuple(tx.execute(found).scalars())


def ask(tx: Tx, screen_id: str, hosts: Iterable[str]) -> bool:
    """Record hosts whose pictures the screen wants to load, up to the limit. True if any is new."""
    known = {one.host for one in list_image_hosts(tx, screen_id)}
    new = [host for host in hosts if host not in known][: max(0, MAX_HOSTS - len(known))]
    for host in new:
        tx.insert(table, screen_id=screen_id, host=host, asked_at=tx.now)
    return bool(new)


def allow(tx: Tx, screen_id: str, host: str, user_id: str) -> None:
    """Allow the screen to load pictures from this host. Repeating changes nothing. Raises `MalformedInput` for too
    many."""
    known = {one.host: one for one in list_image_hosts(tx, screen_id)}
    if host not in known:
        if len(known) >= MAX_HOSTS:
            raise MalformedInput(
                f"A screen can have at most {MAX_HOSTS} picture hosts.", hint="Remove one first.", field="host"
            )
        tx.insert(table, screen_id=screen_id, host=host, asked_at=tx.now)
    elif known[host].allowed_at is not None:
        return
    tx.update(table, {"screen_id": screen_id, "host": host}, allowed_by=user_id, allowed_at=tx.now)
    tx.ring(ACCESS_BELL)


def remove(tx: Tx, screen_id: str, host: str) -> None:
    """Remove the host: its pictures are blocked, and requested again when one is. Raises `NotFound`."""
    mine = table.c.screen_id == screen_id, table.c.host == host
    if not tx.execute(sa.delete(table).where(*mine)).rowcount:
        raise NotFound(f"This screen has no picture host {host}.", screen_id=screen_id)
    tx.ring(ACCESS_BELL)

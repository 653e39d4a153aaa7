"""A screen as what a conversation is about."""

from typing import Final

from outlast.apps.screens import store
from outlast.apps.screens.tables import screens
from outlast.base.errors import ThreadOfScreen
from outlast.db.database import Tx
from outlast.kernel.subjects.subject import Subject


def _rename(tx: Tx, screen_id: str, title: str) -> None:
    store.update(tx, screen_id, title=title, named=True)


def _announce(tx: Tx, screen_id: str, by: str | None) -> None:
    store.announce(tx, screen_id, by=by)


SCREEN: Final = Subject(
    noun="screen",
    table=screens,
    thread_does="builds",
    thread_error=ThreadOfScreen,
    rename=_rename,
    announce=_announce,
)

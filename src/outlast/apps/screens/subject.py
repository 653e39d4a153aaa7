"""A screen as what a conversation is about."""

from typing import Final

from outlast.apps.screens import store
from outlast.apps.screens.copies import copy_screen
from outlast.apps.screens.tables import screens
from outlast.apps.screens.theme_actions import ScreenFiles
from outlast.base.errors import ThreadOfScreen
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.services import Services
from outlast.kernel.subjects.subject import Subject


def _rename(tx: Tx, screen_id: str, title: str) -> None:
    store.update(tx, screen_id, title=title, named=True)


def _announce(tx: Tx, screen_id: str, by: str | None) -> None:
    store.announce(tx, screen_id, by=by)


def _fork(tx: Tx, services: Services, actor: Actor, subject_id: str, title: str, message_id: str | None) -> str:
    source = store.screen_of(tx, subject_id)
    copied = copy_screen(tx, services, actor, source, title=title, message_id=message_id)
    return str(store.screen_of(tx, copied).thread_id)


SCREEN: Final = Subject(
    noun="screen",
    table=screens,
    thread_does="builds",
    thread_error=ThreadOfScreen,
    rename=_rename,
    announce=_announce,
    fork=_fork,
    files=ScreenFiles(),
)

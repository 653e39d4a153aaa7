"""Screens as a subject of conversations."""

from typing import Final

from outlast.apps.screens import store
from outlast.apps.screens.copies import copy_screen
from outlast.apps.screens.tables import screens
from outlast.apps.screens.theme_actions import ScreenFiles
from outlast.base.errors import ThreadOfScreen
from outlast.kernel.subjects.subject import Subject

SCREEN: Final = Subject(
    noun="screen",
    table=screens,
    thread_does="builds",
    thread_error=ThreadOfScreen,
    announce=store.announce,
    fork=copy_screen,
    files=ScreenFiles(),
)

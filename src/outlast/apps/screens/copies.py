"""Copies of screens: duplicated on the canvas, or with a fork of their conversation. Files, messages and theme are
copied; the copy is independent from then on."""

from outlast.apps.screens import store
from outlast.apps.screens.actions import check_room
from outlast.apps.screens.placement import Box, placed, spot_beside
from outlast.apps.screens.shapes import ScreenData
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.services import Services
from outlast.kernel.subjects.new_subject import copy_conversation, duplicate
from outlast.kernel.subjects.subject import NewSubject
from outlast.kernel.threads import store as threads


async def duplicate_screen(
    services: Services,
    actor: Actor,
    screen_id: str,
    x: int | None = None,
    y: int | None = None,
    *,
    key: str | None = None,
) -> ScreenData:
    """Copy a screen with its current files, its conversation and its theme (editors); without a place it goes next to
    the first. While a run works there, the files are those after its last tool call. A repeated `key` returns the first
    answer. Raises `TooManyScreens`, `RateLimited`, `MalformedInput`; then nothing was created."""

    def copy(tx: Tx, title: str) -> NewSubject:
        return copy_screen(tx, services, actor, screen_id, title, None, (x, y))

    return await duplicate(services, actor, store.SCREENS, screen_id, copy, store.screen_data, key, (x, y))


def copy_screen(
    tx: Tx,
    services: Services,
    actor: Actor,
    screen_id: str,
    title: str,
    message_id: str | None,
    at: tuple[int | None, int | None] = (None, None),
) -> NewSubject:
    """Copy a screen with the conversation up to a message, and the files as they were then; without a message all of
    it, and the files as last saved. A coordinate of `at` that is None is that of the next free place. Publishes to
    followers. Raises `NotFound` for a message of another thread, `TooManyScreens`, `RateLimited`, `MalformedInput`."""
    source = store.hold(tx, screen_id)
    threads.hold(tx, source.thread_id)  # before the project
    taken = check_room(tx, services, actor, source.project_id)
    place = placed(spot_beside(Box(source.x, source.y, source.width, source.height), taken), *at)
    new = copy_conversation(tx, actor, "screen", source, title=title, message_id=message_id)
    kept = {"theme": source.theme, "theme_tokens": source.theme_tokens, "files": source.files}
    if message_id is None:  # a copy at an earlier message has no picture yet
        kept |= {"problems": source.problems, "picture_id": source.picture_id, "pictured_at": source.pictured_at}
    store.add(tx, new, place, template=source.template, **kept)
    threads.announce(tx, new.thread_id)
    store.announce(tx, new.id, actor.user_id, created=True)
    return new

"""Copies of screens: duplicated on the canvas, or with a fork of their conversation. Files, messages and theme go with
them; each is its own from then on."""

from outlast.apps.screens import store
from outlast.apps.screens.placement import Box, checked_box, spot_beside
from outlast.apps.screens.rows import ScreenRow
from outlast.apps.screens.shapes import ScreenData, ScreenFile, ThemeTokens
from outlast.apps.screens.store import require_screen
from outlast.apps.screens.tables import screens as screens_table
from outlast.base.errors import TooManyScreens
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.idempotency import remember, request_hash
from outlast.kernel.limits.store import check_made_rate
from outlast.kernel.projects.rules import Right
from outlast.kernel.services import Services
from outlast.kernel.subjects.new_subject import copy_conversation, save_files
from outlast.kernel.subjects.rules import copy_title, demand_room
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
    """A copy of a screen with its files as they are, its conversation and its theme (editors); without a place it lies
    beside the first. While a run works there, the files are those after its last tool call. A repeated `key` gets the
    first answer. Raises `TooManyScreens`, `RateLimited`, `MalformedInput`; then nothing was made."""
    row = await services.db.read(require_screen, actor, screen_id, Right.EDIT)
    await save_files(services, row.workspace_id)
    asked = request_hash("duplicate", screen_id, x, y)

    def run(tx: Tx) -> ScreenData:
        title = copy_title(require_screen(tx, actor, screen_id, Right.EDIT).title, services.settings.limits.title_chars)
        made = remember(
            tx, actor.user_id, key, asked, lambda: {"id": _copy(tx, services, actor, screen_id, title, None, (x, y)).id}
        )
        return store.screen_data(tx, made["id"])

    data = await services.db.write(run)
    services.sandboxes.warm(data.thread_id)
    return data


def fork_screen(
    tx: Tx, services: Services, actor: Actor, screen_id: str, title: str, message_id: str | None
) -> NewSubject:
    """Copy a screen with the conversation up to a message, and the files as they were then; without a message all of
    it, and the files as last saved. Tells followers. Raises `NotFound` for a message of another thread,
    `TooManyScreens`, `RateLimited`."""
    return _copy(tx, services, actor, screen_id, title, message_id, (None, None))


def _copy(
    tx: Tx,
    services: Services,
    actor: Actor,
    screen_id: str,
    title: str,
    message_id: str | None,
    at: tuple[int | None, int | None],
) -> NewSubject:
    source = store.hold(tx, screen_id)
    limits, most = services.settings.limits, services.settings.screens.most_per_project
    check_made_rate(tx, screens_table, actor.user_id, limits.screens_per_minute_per_user)
    threads.hold(tx, source.thread_id)  # before the project
    taken = store.boxes(tx, source.project_id)
    demand_room(TooManyScreens, "screens", source.project_id, len(taken), most)
    place = _place(source, taken, at)
    new = copy_conversation(tx, actor, "screen", source, title=title, message_id=message_id)
    _add_like(tx, source, new, place, whole=message_id is None)
    threads.announce(tx, new.thread_id)
    store.announce(tx, new.id, actor.user_id, created=True)
    return new


def _add_like(tx: Tx, source: ScreenRow, new: NewSubject, place: Box, *, whole: bool) -> None:
    """The row of the copy. Of one that goes back to an earlier message nobody has seen a picture yet."""
    tokens = source.theme_tokens
    store.add(
        tx,
        new,
        template=source.template,
        theme=source.theme,
        theme_tokens=None if tokens is None else ThemeTokens(**tokens),
        place=place,
        files=[ScreenFile(**file) for file in source.files],
        problems=source.problems if whole else (),
        picture_id=source.picture_id if whole else None,
        pictured_at=source.pictured_at if whole else None,
    )


def _place(source: ScreenRow, taken: list[Box], at: tuple[int | None, int | None]) -> Box:
    box = Box(source.x, source.y, source.width, source.height)
    spot = spot_beside(box, taken)
    x, y = at
    return checked_box(Box(spot.x if x is None else x, spot.y if y is None else y, box.width, box.height))

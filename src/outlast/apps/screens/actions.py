"""Screens: create, list, read, move, change, delete. Their files: `file_actions.py`; copies: `copies.py`; themes:
`theme_actions.py`; waking them: `open_actions.py`."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from outlast.apps.screens import store
from outlast.apps.screens.placement import HEIGHT, MAX_MOVES, WIDTH, Box, checked_box, free_spot, placed
from outlast.apps.screens.rows import ScreenRow
from outlast.apps.screens.shapes import FrameRequest, MoveRequest, ScreenData, ScreenPatch, ScreenRequest
from outlast.apps.screens.store import require_screen
from outlast.apps.screens.tables import screens as screens_table
from outlast.apps.screens.theme_actions import themed_seed, write_theme
from outlast.apps.screens.theme_validation import checked_tokens
from outlast.apps.screens.themes import CUSTOM, DEFAULT, theme_of
from outlast.base.errors import MalformedInput, NotFound, TooManyScreens
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.idempotency import remember, request_hash
from outlast.kernel.limits.rules import check_count, checked_line
from outlast.kernel.limits.store import check_made_rate
from outlast.kernel.lists import Listed
from outlast.kernel.locks import thread_locks
from outlast.kernel.projects.permissions import require
from outlast.kernel.projects.rules import Right
from outlast.kernel.services import Services, in_read
from outlast.kernel.subjects.deletion import delete_with_files
from outlast.kernel.subjects.new_subject import new_subject
from outlast.kernel.subjects.rules import demand_room
from outlast.kernel.threads import store as threads

UNTITLED: Final = "Untitled screen"


async def create_screen(
    services: Services, actor: Actor, project_id: str, new: ScreenRequest, *, key: str | None = None
) -> ScreenData:
    """Create a screen with its conversation and its first files (editors); no sandbox is created yet. Without a place
    it gets the next free one. A repeated `key` returns the first answer. Raises `MalformedInput`, `UnknownTheme`,
    `TooManyScreens`, `RateLimited`, `SandboxUnavailable` (no sandboxes are configured); then nothing was created."""
    theme = _theme_columns(new) or {"theme": DEFAULT}
    title = _checked_title(services, new.title)
    await services.db.read(require, actor, project_id, Right.EDIT)
    template = new.template or services.settings.screens.template
    seed = await themed_seed(services, template, theme_of(**theme))
    asked = request_hash("screen", project_id, str(new))

    def produce(tx: Tx) -> dict[str, Any]:
        place = _place(new, check_room(tx, services, actor, project_id))
        made = new_subject(tx, actor, "screen", project_id, title, UNTITLED, seed)
        store.add(tx, made, place, template=template, **theme)
        threads.announce(tx, made.thread_id)
        store.announce(tx, made.id, actor.user_id, created=True)
        return {"id": made.id}

    def run(tx: Tx) -> ScreenData:
        require(tx, actor, project_id, Right.EDIT)
        made = remember(tx, actor.user_id, key, asked, lambda: produce(tx))
        return store.screen_data(tx, made["id"])

    data = await services.db.write(run)
    services.sandboxes.want_snapshot(template)
    services.sandboxes.warm(data.thread_id)
    return data


@in_read
def list_screens(
    tx: Tx, actor: Actor, project_id: str, after: str | None = None, limit: int = 200
) -> Listed[ScreenData, str]:
    """The project's screens, oldest first."""
    require(tx, actor, project_id, Right.READ)
    return store.list_screens(tx, project_id, after, limit)


@in_read
def read_screen(tx: Tx, actor: Actor, screen_id: str) -> ScreenData:
    """One screen."""
    require_screen(tx, actor, screen_id, Right.READ)
    return store.screen_data(tx, screen_id)


async def change_screen(services: Services, actor: Actor, screen_id: str, change: ScreenPatch) -> ScreenData:
    """Move, resize, rename a screen (editors), or change its theme (editors; refused if another member holds the
    lock, since that changes the app). A theme is stored at once; it is written into the app's files at once too, or
    after the active run has ended. Raises `MalformedInput`, `UnknownTheme`, `ThreadLocked`."""
    title = _checked_title(services, change.title)
    theme = _theme_columns(change)

    def run(tx: Tx) -> ScreenData:
        require_screen(tx, actor, screen_id, Right.EDIT)
        row = store.hold(tx, screen_id)
        values = _moved(row, change) | theme
        if theme:
            thread_locks.demand_not_locked(tx, row.thread_id, actor)
        if title is not None:
            values |= {"title": title, "named": True}
            threads.rename(tx, row.thread_id, row.project_id, title)
            threads.announce(tx, row.thread_id)
        return _update(tx, actor, row, values)

    data = await services.db.write(run)
    if theme:
        await write_theme(services, data)
    return data


async def move_screens(
    services: Services, actor: Actor, project_id: str, moves: Sequence[MoveRequest]
) -> list[ScreenData]:
    """Move several screens of a project at once, all or none (editors). Raises `MalformedInput`, `InputTooLarge` (more
    than 500), `NotFound` (one that is not in this project)."""
    check_count("moves", len(moves), MAX_MOVES)
    if len({move.id for move in moves}) < len(moves):
        raise MalformedInput("A screen is moved twice.", hint="Give each screen once.", field="items")

    def run(tx: Tx) -> list[ScreenData]:
        require(tx, actor, project_id, Right.EDIT)
        ordered = sorted(moves, key=lambda move: move.id)
        held = [_hold_in(tx, project_id, move.id) for move in ordered]  # all before the project's log
        moved = {row.id: _update(tx, actor, row, _moved(row, move)) for move, row in zip(ordered, held, strict=True)}
        return [moved[move.id] for move in moves]

    return await services.db.write(run)


async def delete_screen(services: Services, actor: Actor, screen_id: str) -> None:
    """Remove a screen with its conversation, files and sandbox (owners). Pictures stay in the project. Raises
    `ThreadBusy` while a run of it has not ended. When this returns, the screen is gone; a sandbox that could not be
    ended now is ended later."""
    await delete_with_files(services, store.SCREENS, actor, screen_id)


def check_room(tx: Tx, services: Services, actor: Actor, project_id: str) -> list[Box]:
    """Raise `RateLimited` or `TooManyScreens` if the actor may not create another screen in the project. Returns the
    places of the others."""
    check_made_rate(tx, screens_table, actor.user_id, services.settings.limits.screens_per_minute_per_user)
    taken = store.boxes(tx, project_id)
    demand_room(TooManyScreens, "screens", project_id, len(taken), services.settings.screens.most_per_project)
    return taken


def _checked_title(services: Services, title: str | None) -> str | None:
    return None if title is None else checked_line("The title", title, services.settings.limits.title_chars)


def _place(new: ScreenRequest, taken: Sequence[Box]) -> Box:
    width, height = new.width or WIDTH, new.height or HEIGHT
    checked_box(Box(0, 0, width, height))
    return placed(free_spot(taken, width, height), new.x, new.y)


def _theme_columns(asked: ScreenRequest | ScreenPatch) -> dict[str, Any]:
    """The columns of the requested theme, where tokens alone make a custom one; none if no theme is requested. Raises
    `UnknownTheme`, `MalformedInput`."""
    theme, tokens = asked.theme or CUSTOM, asked.theme_tokens
    if asked.theme is None and tokens is None:
        return {}
    if theme != CUSTOM:
        theme_of(theme)
        if tokens is not None:
            raise MalformedInput(
                f"The theme {theme} has its own tokens.",
                hint="Give theme_tokens with the theme custom, or alone.",
                field="theme_tokens",
            )
        return {"theme": theme, "theme_tokens": None}
    if tokens is None:
        raise MalformedInput(
            "A custom theme needs its tokens.",
            hint='Give theme_tokens: {"light": {…}, "dark": {…}}.',
            field="theme_tokens",
        )
    return {"theme": CUSTOM, "theme_tokens": checked_tokens(tokens).model_dump()}


def _moved(row: ScreenRow, change: FrameRequest | MoveRequest) -> dict[str, Any]:
    """The new place, as columns. Raises `MalformedInput`."""
    given = change.model_dump(include={*Box._fields}, exclude_none=True)
    checked_box(Box(row.x, row.y, row.width, row.height)._replace(**given))
    return given


def _hold_in(tx: Tx, project_id: str, screen_id: str) -> ScreenRow:
    row = store.hold(tx, screen_id)
    if row.project_id != project_id:
        raise NotFound("This project has no such screen.", noun="screen", id=screen_id)
    return row


def _update(tx: Tx, actor: Actor, row: ScreenRow, values: Mapping[str, Any]) -> ScreenData:
    """Store and announce these columns, unless the row has them already."""
    if all(getattr(row, name) == value for name, value in values.items()):
        return store.screen_data(tx, row.id)
    store.update(tx, row.id, **values)
    return store.announce(tx, row.id, by=actor.user_id)

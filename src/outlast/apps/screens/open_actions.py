"""Open screens: wake or create their sandboxes and dev servers in the background; links to the running app;
and work that has to wait until a run has ended."""

import logging
from typing import Final, Literal

import anyio

from outlast.apps.screens import store
from outlast.apps.screens.actions import read_screen
from outlast.apps.screens.shapes import ScreenData
from outlast.apps.screens.theme_actions import write_theme
from outlast.base.errors import NotFound, OutlastError, SandboxUnavailable
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.previews.actions import Ticket, open_preview
from outlast.kernel.sandboxes.actions import machines_of
from outlast.kernel.sandboxes.templates import DEV_PORT
from outlast.kernel.services import Services

AT_A_TIME: Final = 4
MAX_WAITING: Final = 1_000
PATIENCE_S: Final = 20.0  # for a sandbox to have an id; it need not run yet
Task = Literal["open", "dress"]
log = logging.getLogger("outlast.screens")


class ScreenOpener:
    """Tracks in memory which screens are being opened, and which wait for the end of a run to get their theme.
    Concurrent callers who open one wait for the same sandbox. A lost entry costs time, never work: the next visit opens
    the screen again, and opening writes the theme."""

    def __init__(self) -> None:
        self._opening: set[str] = set()
        self._undressed: set[str] = set()
        self._wanted, self._coming = anyio.create_memory_object_stream[tuple[Task, str]](MAX_WAITING)

    def open(self, screen_id: str) -> None:
        """Open the screen soon. Returns at once. Raises `SandboxUnavailable` if the queue is full."""
        self._want(self._opening, "open", screen_id)

    def dress(self, screen_id: str) -> None:
        """Write its theme into its files once no run works there; it does not wait for a run that waits for a person:
        the check of that run, or opening the screen, writes the theme. Returns at once; does nothing if the queue is
        full."""
        try:
            self._want(self._undressed, "dress", screen_id)
        except SandboxUnavailable as error:
            log.warning("theme not written", extra={"screen_id": screen_id, "code": error.code})

    async def run(self, services: Services) -> None:
        """Until cancelled."""
        limiter = anyio.CapacityLimiter(AT_A_TIME)
        async with anyio.create_task_group() as tasks:
            async for task, screen_id in self._coming:
                guard = services.supervisor.guard
                if task == "open":
                    tasks.start_soon(
                        guard.once, "opening of a screen", screen_id, self._open, services, screen_id, limiter
                    )
                else:
                    tasks.start_soon(guard.once, "theme of a screen", screen_id, self._dress, services, screen_id)

    def _want(self, under_way: set[str], task: Task, screen_id: str) -> None:
        if screen_id in under_way:
            return
        try:
            self._wanted.send_nowait((task, screen_id))
        except anyio.WouldBlock:
            raise SandboxUnavailable(
                "Too many screens are being opened.", hint="Try again in a moment.", retry_after_s=5
            ) from None
        under_way.add(screen_id)

    async def _open(self, services: Services, screen_id: str, limiter: anyio.CapacityLimiter) -> None:
        trouble = None
        try:
            async with limiter:
                await wake(services, screen_id)
        except OutlastError as error:
            log.warning("screen not opened", extra={"screen_id": screen_id, "code": error.code})
            trouble = " ".join(filter(None, (error.message, error.hint)))
        finally:
            self._opening.discard(screen_id)
        if trouble is not None:  # published last: a client may then open the screen again at once
            await services.db.write(_note, screen_id, trouble)

    async def _dress(self, services: Services, screen_id: str) -> None:
        idle = False
        try:
            idle = await _until_idle(services, screen_id)
        finally:
            self._undressed.discard(screen_id)
        if idle:
            await write_theme(services, await services.db.read(store.screen_data, screen_id))


async def _until_idle(services: Services, screen_id: str) -> bool:
    """Wait until no run works on the screen. False if one waits for a person, which may take days."""
    screen = await services.db.read(store.screen_data, screen_id)
    with services.hub.listen(screen.project_id) as channel:
        while True:
            version = channel.version
            screen = await services.db.read(store.screen_data, screen_id)
            if screen.active_run_id is None or screen.state == "waiting":
                return screen.active_run_id is None
            await channel.wait(version)


async def wake(services: Services, screen_id: str) -> None:
    """Wake or create the screen's sandbox with its dev server, and make sure that its theme is the one in its row.
    Raises the error that prevents it. Repeatable."""
    screen = await services.db.read(store.screen_data, screen_id)
    if screen.trouble is not None:  # it is being tried again
        await services.db.write(_note, screen_id, None)
    await machines_of(services).ensure(screen.workspace_id, screen.project_id)
    await write_theme(services, await services.db.read(store.screen_data, screen_id))


async def open_screen(services: Services, actor: Actor, screen_id: str) -> ScreenData:
    """Start the screen's app (members): its state comes as events `sandbox.state`, a failure as the
    screen's `trouble`. Returns at once; concurrent calls share one start. Raises `SandboxUnavailable`."""
    screen = await read_screen(services, actor, screen_id)
    machines_of(services)
    services.open_screen(screen_id)
    return screen


async def preview_screen(services: Services, actor: Actor, screen_id: str, opener: str) -> Ticket:
    """A ticket to open the screen's app, valid once within a minute (members). `opener` is the origin of the page that
    may show it in a frame. Raises `SandboxUnavailable`, with the reason if none could be created."""
    screen = await open_screen(services, actor, screen_id)
    sandbox_id = screen.sandbox_id or await _sandbox_of(services, screen)
    return await open_preview(services, actor, sandbox_id, DEV_PORT, opener)


async def _sandbox_of(services: Services, screen: ScreenData) -> str:
    """The first sandbox of a screen, once it exists."""
    with services.hub.listen(screen.project_id) as channel, anyio.move_on_after(PATIENCE_S):
        while True:
            version = channel.version
            now = await services.db.read(store.screen_data, screen.id)
            if now.sandbox_id is not None:
                return now.sandbox_id
            if now.trouble is not None and now.trouble != screen.trouble:
                raise SandboxUnavailable(now.trouble, screen_id=screen.id)
            await channel.wait(version)
    raise SandboxUnavailable(
        screen.trouble or "The screen's sandbox is still starting.", hint="Try again in a moment.", retry_after_s=5
    )


def _note(tx: Tx, screen_id: str, trouble: str | None) -> None:
    try:
        row = store.hold(tx, screen_id)
    except NotFound:  # deleted meanwhile
        return
    if row.trouble != trouble:
        store.update(tx, screen_id, trouble=trouble)
        store.announce(tx, screen_id)

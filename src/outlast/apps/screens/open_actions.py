"""Open screens: wake or create their sandboxes and dev servers in the background; links to the running app;
and work that has to wait until a run has ended."""

import logging
from typing import Final

import anyio

from outlast.apps.screens import store
from outlast.apps.screens.actions import read_screen
from outlast.apps.screens.screen_queue import ScreenQueue
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
PATIENCE_S: Final = 20.0  # for a sandbox to have an id; it need not run yet
log = logging.getLogger("outlast.screens")


async def work_on(queue: ScreenQueue) -> None:
    """Until cancelled: open screens, and write the themes of others once no run works there. A run that waits for a
    person is not waited for: its check, or opening the screen, writes the theme."""
    limiter = anyio.CapacityLimiter(AT_A_TIME)
    async with anyio.create_task_group() as tasks:
        async for task, services, screen_id in queue.coming:
            what, run = ("opening of a screen", _open) if task == "open" else ("theme of a screen", _dress)
            once, under_way = services.supervisor.guard.once, queue.under_way[task]
            tasks.start_soon(once, what, screen_id, run, services, screen_id, under_way, limiter)


async def _open(services: Services, screen_id: str, under_way: set[str], limiter: anyio.CapacityLimiter) -> None:
    trouble = None
    try:
        async with limiter:
            await wake(services, screen_id)
    except OutlastError as error:
        log.warning("screen not opened", extra={"screen_id": screen_id, "code": error.code})
        trouble = " ".join(filter(None, (error.message, error.hint)))
    finally:
        under_way.discard(screen_id)
    if trouble is not None:  # published last: a client may then open the screen again at once
        await services.db.write(_note, screen_id, trouble)


async def _dress(services: Services, screen_id: str, under_way: set[str], _limiter: anyio.CapacityLimiter) -> None:
    idle = False
    try:
        idle = await _until_idle(services, screen_id)
    finally:
        under_way.discard(screen_id)
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
    services.state(ScreenQueue).put("open", services, screen_id)
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

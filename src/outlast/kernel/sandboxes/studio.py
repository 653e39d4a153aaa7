"""The photographer of this server: pictures of a sandbox's pages, and errors in them."""

import logging
from pathlib import Path
from typing import Final

from outlast.base.clock import Clock
from outlast.base.data_directory import cache_directory
from outlast.kernel.sandboxes.screen_settings import ScreenSettings
from outlast.kernel.sandboxes.translation import translated, untranslated
from outlast_sandbox.browser.chromium import find_browser
from outlast_sandbox.browser.interface import Look
from outlast_sandbox.browser.studio import NO_PROGRAM, Studio
from outlast_sandbox.interface import Sandbox

FOLDER: Final = "browsers"  # below the data directory
NAMED_WRONG: Final = "No picture was taken: screens.browser is {name}, which is not a program on this server."
TURNED_OFF: Final = "No picture was taken: pictures are turned off on this server (screens.pictures)."
log = logging.getLogger("outlast.browser")


class ServerStudio(Studio):
    """A `Photographer` that raises the server's errors."""

    async def look(self, sandbox: Sandbox, port: int, path: str, width: int, height: int) -> Look:
        with translated():
            return await super().look(untranslated(sandbox), port, path, width, height)


def open_studio(settings: ScreenSettings, clock: Clock, data_dir: Path) -> ServerStudio:
    """The photographer of the server that owns `data_dir`."""
    program = find_browser(settings.browser) if settings.pictures else None
    missing = NAMED_WRONG.format(name=settings.browser) if settings.browser else NO_PROGRAM
    if not settings.pictures:
        missing = TURNED_OFF
    elif program is None:
        log.warning("no pictures of screens: Chromium was not found", extra={"setting": "screens.browser"})
    return ServerStudio(clock, data_dir / FOLDER, cache_directory(), program, missing)

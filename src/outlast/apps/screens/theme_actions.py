"""The theme of a screen's app, written into the style sheet among its files."""

import logging
from contextlib import suppress
from functools import partial

from outlast.apps.screens import store
from outlast.apps.screens.file_writer import rewrite
from outlast.apps.screens.screen_queue import ScreenQueue
from outlast.apps.screens.shapes import ScreenData, Theme
from outlast.apps.screens.theme_classes import dress
from outlast.apps.screens.themes import STYLE_SHEET, theme_of
from outlast.base.errors import OutlastError, SandboxUnavailable, ThreadBusy
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.sandboxes.checkpoints.shapes import CheckpointData
from outlast.kernel.sandboxes.seeds import Seed
from outlast.kernel.sandboxes.settings import NO_SANDBOXES_HINT
from outlast.kernel.services import Services
from outlast.kernel.subjects.subject import FileHooks

log = logging.getLogger("outlast.screens")


async def write_theme(services: Services, screen: ScreenData) -> CheckpointData | None:
    """Write the theme of the screen's row into the app's style sheet. Returns the checkpoint (None if it was there
    already). If that is impossible now (a run works there, the disk is full), it happens when the run has ended or the
    screen is opened; then this only logs."""
    theme = theme_of(screen.theme, screen.theme_tokens)
    try:
        with suppress(ThreadBusy):
            return await rewrite(services, screen, {STYLE_SHEET: partial(_themed, theme=theme)})
        services.state(ScreenQueue).put("dress", services, screen.id)
    except OutlastError as error:
        log.warning("theme not written", extra={"screen_id": screen.id, "code": error.code})
    return None


class ScreenFiles(FileHooks):
    """See `FileHooks`: a screen begins with its template's files and keeps its current theme; known problems
    of replaced files are cleared."""

    async def seed(self, services: Services, subject_id: str) -> Seed:
        screen = await services.db.read(store.screen_data, subject_id)
        return await themed_seed(services, screen.template, theme_of(screen.theme, screen.theme_tokens))

    async def after_reset(self, services: Services, actor: Actor, subject_id: str) -> None:
        await services.db.write(_forget_problems, actor, subject_id)

    async def after_restore(self, services: Services, actor: Actor, subject_id: str) -> CheckpointData | None:
        return await write_theme(services, await services.db.write(_forget_problems, actor, subject_id))


async def themed_seed(services: Services, template: str, theme: Theme) -> Seed:
    """The first files of a new screen, with the theme in them. Raises `MalformedInput` (no such template),
    `SandboxUnavailable` (no sandboxes are configured)."""
    if services.sandboxes.seeds is None:
        raise SandboxUnavailable(
            "This server has no sandboxes configured, and a screen's app runs in one.", hint=NO_SANDBOXES_HINT
        )
    return await services.sandboxes.seeds.of(template, {STYLE_SHEET: partial(_themed, theme=theme)})


def _forget_problems(tx: Tx, actor: Actor, screen_id: str) -> ScreenData:
    """Clear the problems: other files have replaced those that the check was about."""
    if not store.screen_of(tx, screen_id).problems:
        return store.screen_data(tx, screen_id)
    store.update(tx, screen_id, problems=[])
    return store.announce(tx, screen_id, by=actor.user_id)


def _themed(content: bytes | None, theme: Theme) -> bytes:
    return dress((content or b"").decode("utf-8", "replace"), theme).encode()

"""The look of a screen's app: its theme, written into the style sheet among its files."""

import logging
from functools import partial

from outlast.actions import checkpoints
from outlast.actions.screen_writing import rewrite
from outlast.actions.services import Services
from outlast.base.errors import OutlastError, SandboxUnavailable, ThreadBusy
from outlast.base.events import CheckpointData, ScreenData
from outlast.core.accounts.actor import Actor
from outlast.core.sandboxes.seeding import Seed
from outlast.core.screens import store
from outlast.core.screens.theme_list import THEMES
from outlast.core.screens.theme_tokens import Theme
from outlast.core.screens.themes import STYLE_SHEET, apply_theme, theme_of
from outlast.db.database import Tx

log = logging.getLogger("outlast.screens")


def list_themes() -> list[Theme]:
    """The themes that ship."""
    return list(THEMES.values())


async def write_theme(services: Services, screen: ScreenData) -> CheckpointData | None:
    """Make the app's style sheet say the theme that the screen's row says: the checkpoint that has it (None: it did
    already). Where that cannot be done now (a run is at work, no disk is left) it is done when the run has ended or the
    screen is opened; then this only logs."""
    theme = theme_of(screen.theme, screen.theme_tokens)
    try:
        return await rewrite(services, screen, STYLE_SHEET, partial(_themed, theme=theme))
    except ThreadBusy:
        services.dress_screen(screen.id)
    except OutlastError as error:
        log.warning("theme not written", extra={"screen_id": screen.id, "code": error.code})
    return None


async def restore(services: Services, actor: Actor, checkpoint_id: str) -> CheckpointData:
    """As `checkpoints.restore`; a screen keeps the theme that it has now, and nothing is known any more of what was
    wrong with it."""
    restored = await checkpoints.restore(services, actor, checkpoint_id)

    def forget(tx: Tx) -> ScreenData | None:
        row = store.screen_of_workspace(tx, restored.workspace_id)
        if row is None:
            return None
        if not row["problems"]:
            return store.screen_data(tx, row["id"])
        store.update(tx, row["id"], problems=[])
        return store.announce(tx, row["id"], by=actor.user_id)

    screen = await services.db.write(forget)
    dressed = None if screen is None else await write_theme(services, screen)
    return dressed or restored


async def themed_seed(services: Services, template: str, theme: Theme) -> Seed:
    """The first files of a new screen, with the theme in them. Raises `MalformedInput` (no such template),
    `SandboxUnavailable` (no sandboxes are configured)."""
    if services.seeds is None:
        raise SandboxUnavailable(
            "This server has no sandboxes configured, and a screen's app runs in one.",
            hint='Set provider = "local" in the section [sandbox].',
        )
    return await services.seeds.of(template, {STYLE_SHEET: partial(_themed, theme=theme)})


def _themed(content: bytes | None, theme: Theme) -> bytes:
    return apply_theme((content or b"").decode("utf-8", "replace"), theme).encode()

"""The look of a screen's app: its theme, written into the style sheet among its files."""

import logging
from functools import partial

from outlast.apps.screens import store
from outlast.apps.screens.file_writer import rewrite
from outlast.apps.screens.theme_classes import dress
from outlast.apps.screens.theme_list import shipped_themes
from outlast.apps.screens.theme_tokens import Theme
from outlast.apps.screens.themes import STYLE_SHEET, theme_of
from outlast.base.errors import OutlastError, SandboxUnavailable, ThreadBusy
from outlast.base.events import CheckpointData
from outlast.base.screen_data import ScreenData
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.projects.permissions import require_thread
from outlast.kernel.projects.rules import Right
from outlast.kernel.sandboxes.checkpoints import actions as checkpoints
from outlast.kernel.sandboxes.seeds import Seed
from outlast.kernel.services import Services

log = logging.getLogger("outlast.screens")


def list_themes() -> list[Theme]:
    """The themes that ship."""
    return list(shipped_themes().values())


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
    screen = await services.db.write(_forget_problems, actor, restored.workspace_id)
    dressed = None if screen is None else await write_theme(services, screen)
    return dressed or restored


async def reset_workspace(services: Services, actor: Actor, thread_id: str) -> CheckpointData:
    """As `checkpoints.reset_workspace`; a screen starts with its template's files, in the theme that it has now."""

    def find(tx: Tx) -> ScreenData | None:
        require_thread(tx, actor, thread_id, Right.EDIT)
        row = store.screen_of_thread(tx, thread_id)
        return None if row is None else store.screen_data(tx, row.id)

    screen = await services.db.read(find)
    if screen is None:
        return await checkpoints.reset_workspace(services, actor, thread_id)
    theme = theme_of(screen.theme, screen.theme_tokens)
    seed = await themed_seed(services, screen.template, theme)
    begun = await checkpoints.reset_workspace(services, actor, thread_id, seed)
    await services.db.write(_forget_problems, actor, begun.workspace_id)
    return begun


async def themed_seed(services: Services, template: str, theme: Theme) -> Seed:
    """The first files of a new screen, with the theme in them. Raises `MalformedInput` (no such template),
    `SandboxUnavailable` (no sandboxes are configured)."""
    if services.seeds is None:
        raise SandboxUnavailable(
            "This server has no sandboxes configured, and a screen's app runs in one.",
            hint='Set provider = "local" in the section [sandbox].',
        )
    return await services.seeds.of(template, {STYLE_SHEET: partial(_themed, theme=theme)})


def _forget_problems(tx: Tx, actor: Actor, workspace_id: str) -> ScreenData | None:
    """Other files have taken the place of those that a check found something in. The workspace's screen, if it has
    one."""
    row = store.screen_of_workspace(tx, workspace_id)
    if row is None:
        return None
    if not row.problems:
        return store.screen_data(tx, row.id)
    store.update(tx, row.id, problems=[])
    return store.announce(tx, row.id, by=actor.user_id)


def _themed(content: bytes | None, theme: Theme) -> bytes:
    return dress((content or b"").decode("utf-8", "replace"), theme).encode()

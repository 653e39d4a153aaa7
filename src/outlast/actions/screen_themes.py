"""The look of a screen's app: its theme, written into the style sheet among its files."""

import logging
from functools import partial

from outlast.actions.screen_writing import rewrite
from outlast.actions.services import Services
from outlast.base.errors import OutlastError, SandboxUnavailable, ThreadBusy
from outlast.base.events import ScreenData
from outlast.core.sandboxes.seeding import Seed
from outlast.core.screens.theme_list import THEMES
from outlast.core.screens.theme_tokens import Theme
from outlast.core.screens.themes import STYLE_SHEET, apply_theme, theme_of

log = logging.getLogger("outlast.screens")


def list_themes() -> list[Theme]:
    """The themes that ship."""
    return list(THEMES.values())


async def write_theme(services: Services, screen: ScreenData) -> None:
    """Make the app's style sheet say the theme that the screen's row says. Where that cannot be done now (a run is at
    work, no sandbox can be had) it is done when the run has ended or the screen is opened; then this only logs."""
    theme = theme_of(screen.theme, screen.theme_tokens)
    try:
        await rewrite(services, screen, STYLE_SHEET, partial(_themed, theme=theme))
    except ThreadBusy:  # done when the run has ended
        return
    except OutlastError as error:
        log.warning("theme not written", extra={"screen_id": screen.id, "code": error.code})


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

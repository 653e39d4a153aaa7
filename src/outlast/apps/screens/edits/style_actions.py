"""CSS as the Tailwind classes of a screen's own project."""

from collections.abc import Mapping, Sequence

from outlast.apps.screens.design_systems import DesignSystems, Sheet, sheet_name
from outlast.apps.screens.edits.design_system import SHEETS
from outlast.apps.screens.edits.shapes import MAX_CLASSES, MAX_STYLES, StylesAnswer
from outlast.apps.screens.edits.styles import to_classes
from outlast.apps.screens.file_actions import read_file
from outlast.apps.screens.store import require_screen
from outlast.base.errors import NotFound, PathRefused
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.limits.rules import check_count
from outlast.kernel.projects.rules import Right
from outlast.kernel.sandboxes.actions import awake_sandbox
from outlast.kernel.services import Services


async def map_styles(
    services: Services,
    actor: Actor,
    screen_id: str,
    styles: Mapping[str, str],
    classes: Sequence[str] = (),
    *,
    exact: bool = False,
) -> StylesAnswer:
    """Classes for CSS declarations (`exact`: with these values), and what classes say (editors): as declarations
    (empty: it has states or several rules), or None where the project has no such class; a class that nobody could be
    asked about is missing. `design`: whether the project's own design system answered. Nothing is woken: while the
    sandbox sleeps, what its design system said before answers, else arbitrary values. Raises `InputTooLarge`.
    Repeatable."""
    check_count("styles", len(styles), MAX_STYLES)
    check_count("classes", len(classes), MAX_CLASSES)
    row = await services.db.read(require_screen, actor, screen_id, Right.EDIT)
    sandbox = await awake_sandbox(services, row.workspace_id)
    content = await _style_sheet(services, actor, screen_id)
    sheet = Sheet(sheet_name(row.project_id, content), sandbox)
    table = await services.state(DesignSystems).table(sheet)
    mapped = to_classes(styles, {} if exact else table)
    said = await services.state(DesignSystems).say(sheet, list(classes))
    known = {name: None if one is None else dict(one) for name, one in said.items()}
    return StylesAnswer(
        classes=dict(mapped.classes), refused=dict(mapped.refused), known=known, design=table is not None
    )


async def _style_sheet(services: Services, actor: Actor, screen_id: str) -> bytes:
    for path in SHEETS:
        try:
            return await read_file(services, actor, screen_id, path)
        except (NotFound, PathRefused):
            continue
    return b""

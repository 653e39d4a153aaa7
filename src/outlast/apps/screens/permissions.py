"""Who may do what with a screen: the rights that its project gives."""

from outlast.apps.screens.rows import ScreenRow
from outlast.apps.screens.tables import screens
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.projects.permissions import require_owned
from outlast.kernel.projects.rules import Right


def require_screen(tx: Tx, actor: Actor, screen_id: str, right: Right) -> ScreenRow:
    """The screen's row, if the actor has `right` in its project. Raises `NotFound`, `Forbidden`."""
    return require_owned(tx, actor, ScreenRow, screens, "screen", screen_id, right)

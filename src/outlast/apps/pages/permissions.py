"""Who may do what with a page: the rights that its project gives."""

from outlast.apps.pages.rows import PageRow
from outlast.apps.pages.tables import pages
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.projects.permissions import require_owned
from outlast.kernel.projects.rules import Right


def require_page(tx: Tx, actor: Actor, page_id: str, right: Right) -> PageRow:
    """The page's row, if the actor has `right` in its project. Raises `NotFound`, `Forbidden`."""
    return require_owned(tx, actor, PageRow, pages, "page", page_id, right)

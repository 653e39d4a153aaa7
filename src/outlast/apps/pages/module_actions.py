"""Modules that the agents of pages saved."""

from outlast.apps.pages.store import require_page
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.library.shapes import ModuleData
from outlast.kernel.projects.rules import Right
from outlast.kernel.services import Services


async def list_page_modules(services: Services, actor: Actor, page_id: str) -> list[ModuleData]:
    """What the agent of a page has saved there, by path; modules whose files have vanished are forgotten by this. Empty
    where the server has no sandboxes."""
    page = await services.db.read(require_page, actor, page_id, Right.READ)
    if services.modules is None:
        return []
    usable = await services.modules.usable(page.workspace_id, None)
    return [module.data(services.modules.dependencies) for module in usable]

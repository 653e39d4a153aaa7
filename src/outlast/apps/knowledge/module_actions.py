"""Modules: code saved by agents: list it, publish it to a person's library, delete it."""

import anyio.to_thread

from outlast.apps.knowledge import module_store as store
from outlast.apps.knowledge.tables import modules
from outlast.base.errors import NotFound, SandboxLost
from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.library.module_checks import publishable
from outlast.kernel.library.modules import MAX_BYTES, USABLE_MODULES, Module, ModuleOrigin, NewModule
from outlast.kernel.library.shapes import ModuleData
from outlast.kernel.projects.permissions import require_owned
from outlast.kernel.projects.rules import Right
from outlast.kernel.sandboxes.actions import awake_sandbox
from outlast.kernel.sandboxes.checkpoints.actions import keeper_of
from outlast.kernel.sandboxes.checkpoints.contents import beginning_of
from outlast.kernel.services import Services, in_write
from outlast_sandbox.interface import Sandbox


async def list_published(services: Services, actor: Actor) -> list[ModuleData]:
    """The actor's own library, by path."""
    dependencies = services.implementation(USABLE_MODULES).dependencies
    return [module.data(dependencies) for module in await services.db.read(store.of_user, actor.user_id)]


async def publish_module(services: Services, actor: Actor, module_id: str) -> ModuleData:
    """Put a module into the actor's library (editors of its project), replacing an earlier one with its path: all
    agents that work for the actor find it from now on. Its file is read as it is now; if its sandbox is awake, its
    import is tried. Raises `NotFound` (its file is gone), `MalformedInput` (it is not self-contained), `DiskFull`.
    Repeating is harmless."""
    dependencies = services.implementation(USABLE_MODULES).dependencies
    module = await services.db.read(_require, actor, module_id)
    if module.workspace_id is None:  # it is in the library
        return module.data(dependencies)
    sandbox = await awake_sandbox(services, module.workspace_id)
    content = await _content(services, module.workspace_id, module.path, sandbox)
    announced = NewModule(module.path, module.description, module.exports, module.usage)
    found = await publishable(announced, content, services.blobs, sandbox, new_id("effect"))

    def run(tx: Tx) -> ModuleData:
        _require(tx, actor, module_id)
        origin = ModuleOrigin(module.project_id, module.page_id, actor.user_id, module.run_id)
        published = store.publish(tx, found, origin, actor.user_id, dependencies)
        return published.data(dependencies)

    return await services.db.write(run)


@in_write
def delete_module(tx: Tx, actor: Actor, module_id: str) -> None:
    """Delete a module: one of a page or thread (editors; its file stays), or one of the actor's own library."""
    _require(tx, actor, module_id)
    store.remove(tx, [module_id])


def _require(tx: Tx, actor: Actor, module_id: str) -> Module:
    """The module, if the actor may change it. Only its owner may change a published one, whatever project it came
    from."""
    module = tx.find(Module, modules, {"id": module_id})
    if module is None or module.scope != "user":
        return require_owned(tx, actor, Module, modules, "module", module_id, Right.EDIT)
    if module.user_id != actor.user_id:
        raise NotFound("The module does not exist, or you do not have access to it.", noun="module", id=module_id)
    return module


async def _content(services: Services, workspace_id: str, path: str, sandbox: Sandbox | None) -> bytes:
    """The current file: from the awake sandbox, else from the newest checkpoint."""
    if sandbox is not None:
        try:
            return await sandbox.read_file(path, MAX_BYTES + 1)
        except SandboxLost:
            pass
    keeper = keeper_of(services)
    kept = await keeper.current(workspace_id)
    entry = None if kept is None else (await keeper.tree(kept)).by_path.get(path)
    if entry is None or entry.kind != "file":
        raise NotFound(f"The file {path} is gone.", hint="Ask the agent to write it again.", path=path)
    return await anyio.to_thread.run_sync(beginning_of, services.blobs, entry, MAX_BYTES + 1)

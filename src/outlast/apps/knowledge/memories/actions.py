"""Memories: list, add, edit, delete, switch on and off; and remember, for agents."""

import sqlalchemy as sa

from outlast.apps.knowledge.memories import store
from outlast.apps.knowledge.memories.access import require_memory, require_on, require_scope, switches
from outlast.apps.knowledge.memories.ports import KNOWN_SECRETS
from outlast.apps.knowledge.memories.rules import checked_memory
from outlast.apps.knowledge.memories.shapes import MemoryData, MemorySwitches
from outlast.apps.knowledge.rows import MemoryRow
from outlast.apps.knowledge.settings import MemorySettings
from outlast.apps.knowledge.tables import memories, projects_without_memory, users_without_memory
from outlast.base.errors import Conflict, InputTooLarge
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.library.memories import MemoryScope
from outlast.kernel.lists import Listed
from outlast.kernel.projects.permissions import require, require_editor
from outlast.kernel.projects.rules import Right
from outlast.kernel.runs.transcript import Run
from outlast.kernel.services import Services, in_read, in_read_with_services, in_write, in_write_with_services
from outlast.kernel.settings import Settings


@in_read
def list_memories(
    tx: Tx, actor: Actor, project_id: str, scope: MemoryScope, before: str | None = None, limit: int = 50
) -> Listed[MemoryData, str]:
    """The memories of a project or of its runs, or the actor's own, newest first (members)."""
    require_scope(tx, actor, project_id, scope, Right.READ)
    return store.list_memories(tx, project_id, scope, actor.user_id, before, limit)


async def add_memory(services: Services, actor: Actor, project_id: str, text: str, scope: MemoryScope) -> MemoryData:
    """Add a memory of the project (editors), or of the actor's own. The same text is stored once. Raises `Conflict`
    where memory is off, `MalformedInput` for a secret or nothing, `InputTooLarge`."""

    def run(tx: Tx) -> MemoryData:
        require_scope(tx, actor, project_id, scope, Right.EDIT)
        require_on(tx, services.settings, project_id, actor.user_id)
        line = checked_memory(text, services.implementation(KNOWN_SECRETS))
        return _add(tx, services.settings, project_id, scope, line, actor.user_id)

    return await services.db.write(run)


async def edit_memory(services: Services, actor: Actor, memory_id: str, text: str) -> MemoryData:
    """Replace the text of a memory (editors of its project; of a person's: that person). Raises as `add_memory`."""

    def run(tx: Tx) -> MemoryData:
        row = require_memory(tx, actor, memory_id)
        require_on(tx, services.settings, row.project_id, actor.user_id)
        store.edit(tx, memory_id, checked_memory(text, services.implementation(KNOWN_SECRETS)))
        store.announce(tx, row)
        return store.memory_data(tx, row)

    return await services.db.write(run)


@in_write
def delete_memory(tx: Tx, actor: Actor, memory_id: str) -> None:
    """Delete a memory (editors of its project; of a person's: that person), also where memory is off."""
    row = require_memory(tx, actor, memory_id)
    store.delete(tx, memory_id)
    store.announce(tx, row)


@in_read_with_services
def read_switches(tx: Tx, services: Services, actor: Actor, project_id: str) -> MemorySwitches:
    """Where memory is on (members)."""
    require(tx, actor, project_id, Right.READ)
    return _switches(tx, services.settings, actor, project_id)


@in_write_with_services
def change_switches(
    tx: Tx, services: Services, actor: Actor, project_id: str, *, project: bool | None, person: bool | None
) -> MemorySwitches:
    """Turn memory on or off for the project (owners), and for the actor in all projects. None leaves a switch as it
    is."""
    require(tx, actor, project_id, Right.READ if project is None else Right.OWN)
    _switch(tx, projects_without_memory, "project_id", project_id, project)
    _switch(tx, users_without_memory, "user_id", actor.user_id, person)
    return _switches(tx, services.settings, actor, project_id)


def remember(tx: Tx, settings: Settings, run: Run, line: str, *, for_everyone: bool) -> MemoryData:
    """Add a memory for the user of a run, or for the members of its project (its user must still be an editor). Raises
    `Conflict` in a private project and where memory is off, `InputTooLarge`."""
    require_editor(tx, run.started_by, run.project_id, "thread", "add memories")
    require_on(tx, settings, run.project_id, run.started_by)
    if for_everyone and store.situation_of(tx, run).is_private:
        raise Conflict(
            "This thread is private, so a memory of it can only be the person's own.",
            hint="Remember it for this person alone: for_everyone=false.",
            thread_id=run.thread_id,
        )
    scope: MemoryScope = "project" if for_everyone else "person"
    return _add(tx, settings, run.project_id, scope, line, run.started_by, thread_id=run.thread_id)


def _add(
    tx: Tx,
    settings: Settings,
    project_id: str,
    scope: MemoryScope,
    line: str,
    user_id: str,
    *,
    thread_id: str | None = None,
) -> MemoryData:
    memory_id, fresh = store.add(tx, project_id, scope, line, user_id, thread_id=thread_id)
    row = tx.find(MemoryRow, memories, {"id": memory_id})
    assert row is not None  # added or found in this transaction
    if fresh:
        most = settings.of(MemorySettings).per_owner
        if store.count_owned(tx, project_id, scope, user_id) > most:
            whose = "The project has" if scope == "project" else "You have"
            raise InputTooLarge(
                f"{whose} {most} memories, which is the limit.",
                hint="Delete some that are no longer true, or ask the operator to raise memory.per_owner.",
                limit=most,
            )
        store.announce(tx, row)
    return store.memory_data(tx, row)


def _switches(tx: Tx, settings: Settings, actor: Actor, project_id: str) -> MemorySwitches:
    server, project, person = switches(tx, settings, project_id, actor.user_id)
    return MemorySwitches(server=server, project=project, person=person)


def _switch(tx: Tx, table: sa.Table, key: str, whose: str, on: bool | None) -> None:
    if on:
        tx.execute(sa.delete(table).where(table.c[key] == whose))
    elif on is False:
        tx.insert_missing(table, **{key: whose}, created_at=tx.now)

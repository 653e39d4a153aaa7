"""Memories in the database. First argument: the open transaction.

A run's line is written when the run ends, and deleted with its thread. The other memories are written by agents and
people, and stay when the thread is deleted in which they were made.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

import sqlalchemy as sa

from outlast.apps.knowledge.memories.rules import MEMORY_CHARS, looks_like_secret
from outlast.apps.knowledge.memories.shapes import MemoryChanged, MemoryData
from outlast.apps.knowledge.rows import MemoryRow
from outlast.apps.knowledge.settings import MemorySettings
from outlast.apps.knowledge.store import TEXTS
from outlast.apps.knowledge.tables import memories, projects_without_memory, users_without_memory
from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.kernel.accounts.tables import users
from outlast.kernel.library.memories import Memory, MemoryScope
from outlast.kernel.library.modules import text_hash
from outlast.kernel.library.summary_line import asked_text, first_sentence, summary_line
from outlast.kernel.lists import Listed
from outlast.kernel.mentions.rules import one_line
from outlast.kernel.projects.tables import members
from outlast.kernel.row_shapes import shape_of
from outlast.kernel.runs.transcript import Run
from outlast.kernel.settings import Settings
from outlast.kernel.streams.log_store import append
from outlast.kernel.threads.tables import messages, threads

MAX_SEARCHED: Final = 2_000  # memories of each kind, the newest
PROMPT_MEMORIES: Final = 20
_NOTED: Final[tuple[MemoryScope, ...]] = ("project", "person")

_PROJECT: Final[sa.BindParameter[Any]] = sa.bindparam("project")
_USER: Final[sa.BindParameter[Any]] = sa.bindparam("user")
_FIELDS: Final = tuple(memories.c[name] for name in Memory._fields)
_IS_OFF: Final = sa.or_(
    sa.exists().where(projects_without_memory.c.project_id == _PROJECT),
    sa.exists().where(users_without_memory.c.user_id == _USER),
).label("is_off")


def _is_private() -> sa.ColumnElement[bool]:
    """All members of a project read its threads: the user's own memories may be used there only if it has no other."""
    return ~sa.exists().where(members.c.project_id == _PROJECT, members.c.user_id != _USER)


class Situation(NamedTuple):
    """Whether memory is off for a run, and whether its project has no member but the run's user."""

    is_off: bool
    is_private: bool


class _Asked(NamedTuple):
    is_off: bool
    parts: Any


class _Told(NamedTuple):
    is_off: bool
    scope: MemoryScope | None
    summary: str | None
    created_at: datetime | None


_SITUATION: Final = sa.select(_IS_OFF, _is_private().label("is_private"))
_ASKED: Final = sa.select(
    _IS_OFF,
    sa.select(messages.c.parts).where(messages.c.id == sa.bindparam("message")).scalar_subquery().label("parts"),
)
_SUMMARIES: Final = sa.select(*_FIELDS).where(memories.c.scope == "run", memories.c.thread_id == sa.bindparam("thread"))


def _newest(scope: MemoryScope, limit: int) -> sa.Select[Any]:
    """The newest memories of a scope that a run may use; of its user only in a private project."""
    owned = memories.c.user_id == _USER if scope == "person" else memories.c.project_id == _PROJECT
    chosen = sa.select(*_FIELDS).where(memories.c.scope == scope, owned, memories.c.created_at < sa.bindparam("before"))
    if scope == "person":
        chosen = chosen.where(_is_private())
    most = sa.bindparam(f"most_{scope}", limit, sa.Integer)
    return sa.select(chosen.order_by(memories.c.id.desc()).limit(most).subquery())


def _prompt_statement() -> sa.Select[Any]:
    """One row for each memory of a prompt, or one without a memory: it says whether memory is off."""
    situation = sa.select(_IS_OFF).subquery()
    found = sa.union_all(*(_newest(scope, PROMPT_MEMORIES) for scope in _NOTED)).subquery()
    columns = found.c.scope, found.c.summary, found.c.created_at
    joined = sa.select(situation.c.is_off, *columns).select_from(situation.outerjoin(found, sa.true()))
    return joined.order_by(found.c.id.desc())


_USABLE: Final = sa.select(sa.union_all(*(_newest(scope, MAX_SEARCHED) for scope in (*_NOTED, "run"))).subquery())
_PROMPT: Final = _prompt_statement()


def situation_of(tx: Tx, run: Run) -> Situation:
    """Whether memory is off for the run, and whether only its user reads its answers."""
    found = tx.row(Situation, _SITUATION, {"project": run.project_id, "user": run.started_by})
    assert found is not None  # it has no table, so it always has a row
    return found


def for_prompt(tx: Tx, run: Run) -> list[tuple[MemoryScope, str, datetime]] | None:
    """The newest memories from before the run that it may use, newest first; None if memory is off. The same for every
    turn of the run, unless a person edits or deletes one, or joins the project."""
    began = run.started_at or run.created_at
    told = tx.rows(_Told, _PROMPT, {"project": run.project_id, "user": run.started_by, "before": began})
    if told[0].is_off:
        return None
    found = [(one.scope, one.summary, one.created_at) for one in told if one.scope and one.summary and one.created_at]
    return found[:PROMPT_MEMORIES]


def usable(tx: Tx, run: Run, thread_id: str | None, without: Collection[str]) -> list[Memory]:
    """The memories that a run may use, or with `thread_id` only the lines of that thread's runs: newest first of each
    scope, without the lines of the runs in `without`. Empty if memory is off."""
    if situation_of(tx, run).is_off:
        return []
    if thread_id is not None:
        found = of_thread(tx, thread_id, limit=MAX_SEARCHED + len(without))
    else:
        found = tx.rows(Memory, _USABLE, {"project": run.project_id, "user": run.started_by, "before": tx.now})
    return [one for one in found if one.run_id not in without]


def of_thread(tx: Tx, thread_id: str, *, limit: int = MAX_SEARCHED) -> list[Memory]:
    """The lines of the thread's runs, newest first."""
    newest = _SUMMARIES.order_by(memories.c.id.desc()).limit(limit)
    return tx.rows(Memory, newest, {"thread": thread_id})


def summaries_of_runs(tx: Tx, run_ids: Collection[str]) -> dict[str, str]:
    """Run id → summary, for the runs that have one."""
    found = tx.rows(Memory, sa.select(*_FIELDS).where(memories.c.run_id.in_(sorted(run_ids))))
    return {memory.run_id: memory.summary for memory in found if memory.run_id is not None}


def save_summary(tx: Tx, settings: Settings, run: Run, summary: str, parts: Sequence[Mapping[str, Any]]) -> None:
    """See `Memories.save_summary`."""
    if not settings.of(MemorySettings).enabled:
        return
    key = {"project": run.project_id, "user": run.started_by, "message": run.message_id}
    asked = tx.row(_Asked, _ASKED, key)
    if asked is None or asked.is_off:
        return
    done = first_sentence(parts)
    line = summary or (summary_line(asked_text(asked.parts or ()), done) if done else "")
    line = one_line(line.strip(), MEMORY_CHARS)
    if line and not looks_like_secret(line):
        origin = {"thread_id": run.thread_id, "run_id": run.id, "created_by": run.started_by}
        insert(tx, run.project_id, "run", line, **origin)


def add(
    tx: Tx, project_id: str, scope: MemoryScope, line: str, user_id: str, *, thread_id: str | None = None
) -> tuple[str, bool]:
    """Store a memory of the project or of this user. Returns (its id, True if it is new): the same text is stored
    once. Not announced yet."""
    owned = _owned(project_id, scope, user_id)
    known = sa.select(memories.c.id).where(*owned, memories.c.hash == text_hash(line), memories.c.summary == line)
    found = tx.execute(known.limit(1)).scalar()
    if found is not None:
        return str(found), False
    owner = user_id if scope == "person" else None
    row = {"user_id": owner, "from_thread_id": thread_id, "created_by": user_id}
    return insert(tx, project_id, scope, line, **row), True


def count_owned(tx: Tx, project_id: str, scope: MemoryScope, user_id: str) -> int:
    """The memories of the project, or of this user in all projects."""
    return int(tx.execute(sa.select(sa.func.count()).where(*_owned(project_id, scope, user_id))).scalar_one())


def edit(tx: Tx, memory_id: str, line: str) -> None:
    """Replace the text, and wake the vector keeper."""
    tx.update(memories, {"id": memory_id}, summary=line, hash=text_hash(line), updated_at=tx.now)
    tx.ring(TEXTS)


def delete(tx: Tx, memory_id: str) -> None:
    """Delete a memory; an unused vector of its text is collected later."""
    tx.execute(sa.delete(memories).where(memories.c.id == memory_id))


def announce(tx: Tx, memory: MemoryRow) -> None:
    """Tell the project's followers that a memory was added, edited or deleted. A person's own is not announced."""
    if memory.scope != "person":
        append(tx, memory.project_id, [("memory.changed", MemoryChanged(memory_id=memory.id))])


class ShownMemory(NamedTuple):
    memory: MemoryRow
    created_by_name: str | None
    shown_thread_id: str | None
    thread_title: str | None


def list_memories(
    tx: Tx, project_id: str, scope: MemoryScope, user_id: str, before: str | None, limit: int
) -> Listed[MemoryData, str]:
    """At most `limit` memories of a scope, newest first, those before the id `before`: the project's, its runs', or the
    user's own in all projects."""
    chosen = _shown(project_id).where(*_owned(project_id, scope, user_id))
    if before is not None:
        chosen = chosen.where(memories.c.id < before)
    rows = tx.rows(ShownMemory, chosen.order_by(memories.c.id.desc()).limit(limit + 1))
    shown = [_data(row) for row in rows[:limit]]
    return Listed(shown, shown[-1].id if len(rows) > limit else None)


def memory_data(tx: Tx, memory: MemoryRow) -> MemoryData:
    """A memory as lists of its project show it."""
    row = tx.row(ShownMemory, _shown(memory.project_id).where(memories.c.id == memory.id))
    assert row is not None  # read in this transaction
    return _data(row)


def _owned(project_id: str, scope: MemoryScope, user_id: str) -> tuple[sa.ColumnElement[bool], ...]:
    owned = memories.c.user_id == user_id if scope == "person" else memories.c.project_id == project_id
    return owned, memories.c.scope == scope


def _shown(project_id: str) -> sa.Select[Any]:
    """Memories with their user and thread. A thread of another project is not shown: the user may have left it."""
    origin = sa.func.coalesce(memories.c.thread_id, memories.c.from_thread_id)
    here = (threads.c.id == origin) & (threads.c.project_id == project_id)
    return (
        sa.select(
            memories,
            users.c.name.label("created_by_name"),
            threads.c.id.label("shown_thread_id"),
            threads.c.title.label("thread_title"),
        )
        .select_from(memories)
        .outerjoin(users, users.c.id == memories.c.created_by)
        .outerjoin(threads, here)
    )


def _data(row: ShownMemory) -> MemoryData:
    return shape_of(MemoryData, row.memory, row, thread_id=row.shown_thread_id, text=row.memory.summary)


def insert(tx: Tx, project_id: str, scope: MemoryScope, line: str, **row: Any) -> str:
    """Store a line and wake the vector keeper."""
    memory_id = new_id("memory")
    tx.insert(
        memories,
        id=memory_id,
        project_id=project_id,
        scope=scope,
        summary=line,
        hash=text_hash(line),
        created_at=tx.now,
        **row,
    )
    tx.ring(TEXTS)
    return memory_id

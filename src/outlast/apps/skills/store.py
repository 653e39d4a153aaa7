"""Queries of skills. First argument: the open transaction.

A project's own skill hides one of the server of the same name.
"""

import hashlib
from collections.abc import Collection, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import sqlalchemy as sa

from outlast.apps.skills.rows import SkillRow
from outlast.apps.skills.tables import skill_files, skill_uses, skills, skills_off
from outlast.base.errors import NotFound
from outlast.base.ids import new_id
from outlast.base.skill_errors import SkillChanged
from outlast.db.database import Tx

if TYPE_CHECKING:
    from outlast.apps.skills.rules import Skill


@cache
def _named() -> sa.Select[Any]:
    """Made once, at the first turn of a run."""
    mine = sa.and_(skills_off.c.project_id == sa.bindparam("project"), skills_off.c.name == skills.c.name)
    columns = skills.c.name, skills.c.project_id, skills.c.description, skills_off.c.name.label("off")
    return _in_project(sa.select(*columns).select_from(skills.outerjoin(skills_off, mine)))


def _offered() -> sa.Select[Any]:
    return _in_project(sa.select(skills))


def _in_project(query: sa.Select[Any]) -> sa.Select[Any]:
    return query.where(sa.or_(skills.c.project_id == sa.bindparam("project"), skills.c.project_id.is_(None)))


class SkillFile(NamedTuple):
    """A file of a skill, and the blob with its content."""

    path: str
    blob: str
    size_bytes: int


class _Named(NamedTuple):
    name: str
    project_id: str | None
    description: str
    off: str | None


class _Digest(NamedTuple):
    name: str
    digest: str


def descriptions(tx: Tx, project_id: str) -> Mapping[str, str]:
    """The descriptions of the skills that a project's agents may use, by name."""
    rows = tx.rows(_Named, _named(), {"project": project_id})
    found = {row.name: row for row in sorted(rows, key=lambda row: row.project_id is not None)}
    return {name: found[name].description for name in sorted(found) if found[name].off is None}


def list_skills(tx: Tx, project_id: str) -> list[tuple[SkillRow, bool]]:
    """The skills of a project by name, and whether each is on."""
    rows = tx.rows(SkillRow, _offered(), {"project": project_id})
    found = {row.name: row for row in sorted(rows, key=lambda row: row.project_id is not None)}
    off = set(tx.execute(sa.select(skills_off.c.name).where(skills_off.c.project_id == project_id)).scalars())
    return [(found[name], name not in off) for name in sorted(found)]


def skill_of(tx: Tx, project_id: str, name: str) -> SkillRow:
    """The project's skill of this name, or else the server's. Raises `NotFound`."""
    rows = tx.rows(SkillRow, _offered().where(skills.c.name == name), {"project": project_id})
    found = max(rows, key=lambda row: row.project_id is not None, default=None)
    if found is None:
        raise NotFound("The project has no skill of this name.", name=name)
    return found


def is_off(tx: Tx, project_id: str, name: str) -> bool:
    """True if the project's agents may not use this skill."""
    return tx.exists(skills_off, {"project_id": project_id, "name": name})


def switch(tx: Tx, project_id: str, name: str, *, enabled: bool) -> None:
    """Let the project's agents use this skill, or not."""
    if not enabled:
        tx.insert_missing(skills_off, project_id=project_id, name=name)
        return
    mine = skills_off.c.project_id == project_id, skills_off.c.name == name
    tx.execute(sa.delete(skills_off).where(*mine))


def count_of(tx: Tx, project_id: str) -> int:
    """The number of a project's own skills."""
    mine = sa.select(sa.func.count()).select_from(skills).where(skills.c.project_id == project_id)
    return int(tx.execute(mine).scalar_one())


def has_own(tx: Tx, project_id: str, name: str) -> bool:
    """True if the project itself has a skill of this name."""
    return tx.exists(skills, {"project_id": project_id, "name": name})


def files_of(tx: Tx, skill_id: str) -> list[SkillFile]:
    """The files of a skill by path."""
    columns = (skill_files.c[name] for name in SkillFile._fields)
    return tx.rows(
        SkillFile, sa.select(*columns).where(skill_files.c.skill_id == skill_id).order_by(skill_files.c.path)
    )


def put(tx: Tx, project_id: str | None, skill: "Skill", blobs: Mapping[str, str], by: str | None) -> SkillRow:
    """Add a skill, or replace all files of that name. `blobs`: the names of its stored files by path."""
    key = {"project_id": project_id, "name": skill.name} if project_id is not None else {"id": server_id(skill.name)}
    had = tx.find(SkillRow, skills, key)
    row = SkillRow(
        id=had.id if had else key.get("id") or new_id("skill"),
        project_id=project_id,
        name=skill.name,
        description=skill.description,
        license=skill.license,
        compatibility=skill.compatibility,
        allowed_tools=skill.allowed_tools,
        digest=skill.digest,
        files=len(skill.files),
        size_bytes=skill.size_bytes,
        created_by=by,
        created_at=had.created_at if had else tx.now,
        updated_at=tx.now,
    )
    values = {name: value for name, value in row._asdict().items() if name != "id"}
    if tx.update(skills, {"id": row.id}, **values) == 0:
        tx.insert(skills, **row._asdict())
    tx.execute(sa.delete(skill_files).where(skill_files.c.skill_id == row.id))
    tx.insert_many(
        skill_files,
        [
            {"skill_id": row.id, "path": path, "blob": blobs[path], "size_bytes": len(content)}
            for path, content in skill.files.items()
        ],
    )
    return row


def remove(tx: Tx, skill_id: str) -> None:
    """Delete a skill with its files, whose blobs are collected later."""
    tx.execute(sa.delete(skills).where(skills.c.id == skill_id))


def server_id(name: str) -> str:
    """The id of the server's skill of this name: the same for all servers that share a database."""
    return f"skl_{hashlib.sha256(name.encode()).hexdigest()[:26]}"


def server_digests(tx: Tx) -> Mapping[str, str]:
    """The hashes of the server's skills by name."""
    rows = tx.rows(_Digest, sa.select(skills.c.name, skills.c.digest).where(skills.c.project_id.is_(None)))
    return {row.name: row.digest for row in rows}


def remove_of_server(tx: Tx, names: Collection[str]) -> None:
    """Delete these skills of the server."""
    tx.execute(sa.delete(skills).where(skills.c.project_id.is_(None), skills.c.name.in_(names)))


def begin_use(tx: Tx, run_id: str, project_id: str, name: str) -> tuple[SkillRow, list[SkillFile]]:
    """The skill that a run takes up, as it is now. Raises `NotFound`."""
    row = _usable(tx, project_id, name)
    if not tx.insert_missing(skill_uses, run_id=run_id, name=name, digest=row.digest):
        tx.update(skill_uses, {"run_id": run_id, "name": name}, digest=row.digest)
    return row, files_of(tx, row.id)


def used(tx: Tx, run_id: str, project_id: str, name: str) -> tuple[SkillRow, list[SkillFile]]:
    """The skill that a run has taken up. Raises `SkillChanged` if it is not what it was then, `NotFound`."""
    digest = tx.value(skill_uses.c.digest, {"run_id": run_id, "name": name})
    if digest is None:
        return begin_use(tx, run_id, project_id, name)
    try:
        row = _usable(tx, project_id, name)
    except NotFound:
        raise SkillChanged(
            f"The skill {name} was deleted or turned off after this run began to use it.",
            hint="Go on without it, and say so.",
            name=name,
        ) from None
    if row.digest != digest:
        raise SkillChanged(
            f"The skill {name} was replaced after this run began to use it.",
            hint="Call use_skill again to read it as it is now.",
            name=name,
        )
    return row, files_of(tx, row.id)


def _usable(tx: Tx, project_id: str, name: str) -> SkillRow:
    offered = descriptions(tx, project_id)
    if name not in offered:
        raise NotFound(
            f"There is no skill {name[:80]!r} here. The skills are: {', '.join(offered) or 'none'}.", name=name
        )
    return skill_of(tx, project_id, name)

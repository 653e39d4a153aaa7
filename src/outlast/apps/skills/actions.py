"""Skills of a project: owners add, replace, delete them and turn them on and off; members read them."""

from collections.abc import Sequence

import anyio.to_thread

from outlast.apps.skills import store
from outlast.apps.skills.archives import read_sent
from outlast.apps.skills.front_matter import MAIN, split_skill
from outlast.apps.skills.rows import SkillRow
from outlast.apps.skills.rules import Bounds, Skill
from outlast.apps.skills.settings import SkillSettings
from outlast.apps.skills.shapes import SkillAnswer, SkillContentAnswer, SkillFileAnswer, SkillTextAnswer
from outlast.apps.skills.store import SkillFile
from outlast.apps.skills.texts import TEXT_BYTES, file_at, text_of
from outlast.base.skill_errors import SkillNameTaken, SkillOfServer, TooManySkills
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.projects.permissions import require
from outlast.kernel.projects.rules import Right
from outlast.kernel.row_shapes import shape_of
from outlast.kernel.services import Services, in_read, in_write
from outlast.kernel.subjects.rules import demand_room


async def create_skill(
    services: Services, actor: Actor, project_id: str, sent: Sequence[tuple[str, bytes]], *, replace: bool
) -> SkillAnswer:
    """Add a skill from a zip or from files by path (owners). With `replace`, all files of the project's skill of that
    name are replaced at once. The files are stored before the rows. Raises `SkillInvalid`, `InputTooLarge`,
    `SkillNameTaken`, `TooManySkills`, `DiskFull`."""
    await services.db.read(require, actor, project_id, Right.OWN)
    settings = services.settings.of(SkillSettings)
    bounds = Bounds(settings.files, settings.bytes)
    skill = await anyio.to_thread.run_sync(read_sent, sent, bounds)
    names = await anyio.to_thread.run_sync(services.blobs.put_all, list(skill.files.values()))
    blobs = dict(zip(skill.files, names, strict=True))
    return await services.db.write(_create, services, actor, project_id, skill, blobs, replace)


@in_read
def list_skills(tx: Tx, actor: Actor, project_id: str) -> list[SkillAnswer]:
    """The skills of a project and of the server by name (members)."""
    require(tx, actor, project_id, Right.READ)
    return [_answer(row, enabled=enabled) for row, enabled in store.list_skills(tx, project_id)]


async def read_skill(services: Services, actor: Actor, project_id: str, name: str) -> SkillContentAnswer:
    """A skill with its instructions (members). Raises `NotFound`."""
    skill, files = await services.db.read(_read, actor, project_id, name)
    blob = next(file.blob for file in files if file.path == MAIN)
    content = await anyio.to_thread.run_sync(services.blobs.get, blob)
    listed = [SkillFileAnswer(path=file.path, size_bytes=file.size_bytes) for file in files]
    return SkillContentAnswer(skill=skill, instructions=split_skill(content.decode())[1], files=listed)


async def read_file(services: Services, actor: Actor, project_id: str, name: str, path: str) -> SkillTextAnswer:
    """The text of a file of a skill (members), at most `TEXT_BYTES`; None if it is not text. Raises `NotFound`."""
    _, files = await services.db.read(_read, actor, project_id, name)
    file = file_at(files, path)
    content = await anyio.to_thread.run_sync(services.blobs.read, file.blob, 0, TEXT_BYTES)
    is_cut = file.size_bytes > len(content)
    return SkillTextAnswer(path=path, size_bytes=file.size_bytes, text=text_of(content, is_cut=is_cut), is_cut=is_cut)


@in_write
def switch_skill(tx: Tx, actor: Actor, project_id: str, name: str, *, enabled: bool) -> SkillAnswer:
    """Let the project's agents use a skill, or not (owners). Raises `NotFound`."""
    require(tx, actor, project_id, Right.OWN)
    row = store.skill_of(tx, project_id, name)
    store.switch(tx, project_id, name, enabled=enabled)
    return _answer(row, enabled=enabled)


@in_write
def delete_skill(tx: Tx, actor: Actor, project_id: str, name: str) -> None:
    """Delete a skill of the project (owners). Runs that use it read so. Raises `NotFound`, `SkillOfServer`."""
    require(tx, actor, project_id, Right.OWN)
    row = store.skill_of(tx, project_id, name)
    if row.project_id is None:
        raise SkillOfServer(f"The skill {name} is the server's.", name=name)
    store.remove(tx, row.id)


def _read(tx: Tx, actor: Actor, project_id: str, name: str) -> tuple[SkillAnswer, list[SkillFile]]:
    require(tx, actor, project_id, Right.READ)
    row = store.skill_of(tx, project_id, name)
    answer = _answer(row, enabled=not store.is_off(tx, project_id, name))
    return answer, store.files_of(tx, row.id)


def _create(
    tx: Tx, services: Services, actor: Actor, project_id: str, skill: Skill, blobs: dict[str, str], replace: bool
) -> SkillAnswer:
    require(tx, actor, project_id, Right.OWN)
    if not store.has_own(tx, project_id, skill.name):
        most = services.settings.of(SkillSettings).most_per_project
        demand_room(TooManySkills, "skills", project_id, store.count_of(tx, project_id), most)
        store.switch(tx, project_id, skill.name, enabled=True)
    elif not replace:
        raise SkillNameTaken(f"The project has a skill {skill.name}.", name=skill.name)
    row = store.put(tx, project_id, skill, blobs, actor.user_id)
    return _answer(row, enabled=not store.is_off(tx, project_id, skill.name))


def _answer(row: SkillRow, *, enabled: bool) -> SkillAnswer:
    return shape_of(SkillAnswer, row, of_server=row.project_id is None, enabled=enabled)

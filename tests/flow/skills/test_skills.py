"""Skills of a project: who adds them, what agents read of them, and what a change does to a run."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from outlast.apps.skills import actions, store
from outlast.apps.skills.server_folder import ServerFolder
from outlast.apps.skills.settings import SkillSettings
from outlast.apps.skills.tables import skill_files, skill_uses, skills
from outlast.base.errors import Forbidden, NotFound
from outlast.base.skill_errors import SkillInvalid, SkillNameTaken, SkillOfServer, TooManySkills
from outlast.db.database import Database
from outlast.kernel.agents.context import Context
from outlast.kernel.agents.tool import tool
from outlast.kernel.runs.tables import runs
from outlast.testing.clock import ManualClock
from outlast.testing.scripted_model import Call, turn
from tests.factories import join, make_project, make_user
from tests.flow.harness import Stage, told_last
from tests.flow.skills.stages import GREET, add, added, main, read, skilled, use


async def names(it: Stage) -> list[tuple[str, bool, bool]]:
    found = await actions.list_skills(it.services, it.owner, it.project_id)
    return [(one.name, one.of_server, one.enabled) for one in found]


async def test_owners_add_switch_and_delete_and_members_read(db: Database, tmp_path: Path) -> None:
    async with skilled(db, tmp_path) as it:
        made = await add(it)
        assert (made.name, made.description, made.files, made.enabled) == ("greet", "Greets people.", 2, True)
        editor, stranger = await db.write(make_user, "Ed"), await db.write(make_user, "Stan")
        await db.write(join, it.project_id, editor, "editor")
        for actor, error in ((editor, Forbidden), (stranger, NotFound)):
            with pytest.raises(error):
                await actions.create_skill(
                    it.services, actor, it.project_id, [("SKILL.md", main("other"))], replace=False
                )
            with pytest.raises(error):
                await actions.switch_skill(it.services, actor, it.project_id, "greet", enabled=False)
            with pytest.raises(error):
                await actions.delete_skill(it.services, actor, it.project_id, "greet")
        found = await actions.read_skill(it.services, editor, it.project_id, "greet")
        assert found.skill == made
        assert found.instructions == "Run scripts/greet.sh NAME."
        assert [one.path for one in found.files] == ["SKILL.md", "scripts/greet.sh"]
        text = await actions.read_file(it.services, editor, it.project_id, "greet", "scripts/greet.sh")
        assert text.text == GREET.decode()
        with pytest.raises(NotFound):
            await actions.read_skill(it.services, stranger, it.project_id, "greet")
        with pytest.raises(NotFound):
            await actions.read_file(it.services, editor, it.project_id, "greet", "../SKILL.md")
        await actions.delete_skill(it.services, it.owner, it.project_id, "greet")
        assert await names(it) == []
        assert await db.read(lambda tx: tx.execute(sa.select(skill_files.c.path)).scalars().all()) == []


async def test_a_name_is_taken_until_the_skill_is_replaced_as_a_whole(db: Database, tmp_path: Path) -> None:
    async with skilled(db, tmp_path) as it:
        first = await add(it)
        with pytest.raises(SkillNameTaken):
            await add(it)
        with pytest.raises(SkillInvalid):
            await add(it, text=b"no front matter", replace=True)
        assert (await actions.list_skills(it.services, it.owner, it.project_id)) == [first]
        second = await add(it, text=main(body="Wave."), replace=True)
        assert (second.files, second.created_at) == (1, first.created_at)
        assert second.digest != first.digest
        found = await actions.read_skill(it.services, it.owner, it.project_id, "greet")
        assert [one.path for one in found.files] == ["SKILL.md"]
        await added(it, "a", "b")
        with pytest.raises(TooManySkills):
            await added(it, "c")


async def test_an_agent_reads_names_first_then_a_skill_then_a_file_of_it(db: Database, tmp_path: Path) -> None:
    turns = turn("", use()), turn("", read("scripts/greet.sh")), turn("", read("none")), turn("Done.")
    async with skilled(db, tmp_path, *turns) as it:
        await add(it)
        assert await it.ended((await it.start()).run_id) == "completed"
        first, second, third, last = it.model.requests
        assert [spec.name for spec in first.tools] == ["use_skill", "read_skill_file"]
        assert first.system.endswith("\n- greet: Greets people.")
        assert "Run scripts" not in first.system
        assert second.system == first.system
        listed = f"Files of this skill, to read with read_skill_file:\n- scripts/greet.sh ({len(GREET)} bytes)"
        assert told_last(second) == [f"Run scripts/greet.sh NAME.\n\n{listed}"]
        assert told_last(third) == [GREET.decode()]
        assert told_last(last) == ["The skill has no file 'none'."]


async def test_without_skills_an_agent_has_neither_their_tools_nor_their_text(db: Database, tmp_path: Path) -> None:
    async with skilled(db, tmp_path, turn("Hi."), turn("Hi."), turn("Hi.")) as it:
        await it.ended((await it.start()).run_id)
        await add(it)
        await actions.switch_skill(it.services, it.owner, it.project_id, "greet", enabled=False)
        assert await names(it) == [("greet", False, False)]
        await it.ended((await it.start()).run_id)
        await actions.switch_skill(it.services, it.owner, it.project_id, "greet", enabled=True)
        await it.ended((await it.start()).run_id)
        assert [len(request.tools) for request in it.model.requests] == [0, 0, 2]
        assert it.model.requests[0].system == it.model.requests[1].system == "You help."


async def test_a_skill_that_changes_while_a_run_uses_it_is_told_and_read_again(db: Database, tmp_path: Path) -> None:
    it: Stage

    @tool
    async def change(ctx: Context, how: str) -> str:
        """Change the skill."""
        if how == "replace":
            sent = [("SKILL.md", main(body="Wave.")), ("wave.txt", b"\xff\xfe\x00")]
            await actions.create_skill(it.services, it.owner, it.project_id, sent, replace=True)
        elif how == "delete":
            await actions.delete_skill(it.services, it.owner, it.project_id, "greet")
        return how

    turns = (
        turn("", use()),
        turn("", Call("change", {"how": "replace"})),
        turn("", read("wave.txt")),
        turn("", use()),
        turn("", read("wave.txt")),
        turn("", Call("change", {"how": "delete"})),
        turn("", read("wave.txt")),
        turn("", use()),
        turn("I could not."),
    )
    async with skilled(db, tmp_path, *turns, tools=[change]) as it:
        await add(it)
        await added(it, "other")
        assert await it.ended((await it.start()).run_id) == "completed"
        told = [told_last(request)[0] for request in it.model.requests[1:]]
        assert "replaced after this run began to use it. Call use_skill again" in told[2]
        assert told[3].startswith("Wave.")
        assert told[4] == "wave.txt is not text; it has 3 bytes."
        assert "deleted or turned off after this run began to use it. Go on without it" in told[6]
        assert told[7] == "There is no skill 'greet' here. The skills are: other."
        assert "greet" not in it.model.requests[-1].system


async def test_another_projects_skills_are_not_found(db: Database, tmp_path: Path) -> None:
    async with skilled(db, tmp_path, turn("", use()), turn("No.")) as it:
        await add(it)
        other = await db.write(make_project, it.owner, "Other")
        assert await actions.list_skills(it.services, it.owner, other) == []
        with pytest.raises(NotFound):
            await actions.read_skill(it.services, it.owner, other, "greet")


async def test_the_servers_skills_follow_their_folder(db: Database, tmp_path: Path) -> None:
    folder, clock = tmp_path / "skills", ManualClock()
    for name in ("greet", "wave"):
        (folder / name).mkdir(parents=True)
        (folder / name / "SKILL.md").write_bytes(main(name))
    (folder / "wave" / "passwd").symlink_to("/etc/passwd")
    async with skilled(db, tmp_path) as it:
        sync = ServerFolder(db, it.services.blobs, clock, SkillSettings(folder=str(folder))).sync
        await sync()
        assert await names(it) == [("greet", True, True), ("wave", True, True)]
        assert (await actions.read_skill(it.services, it.owner, it.project_id, "wave")).skill.files == 1
        with pytest.raises(SkillOfServer):
            await actions.delete_skill(it.services, it.owner, it.project_id, "greet")
        await actions.switch_skill(it.services, it.owner, it.project_id, "wave", enabled=False)
        assert await names(it) == [("greet", True, True), ("wave", True, False)]

        await add(it)  # the project's own of the same name
        assert await names(it) == [("greet", False, True), ("wave", True, False)]
        assert list(await db.read(store.descriptions, it.project_id)) == ["greet"]
        await actions.delete_skill(it.services, it.owner, it.project_id, "greet")

        (folder / "greet" / "SKILL.md").write_bytes(main(body="Say hello."))
        (folder / "wave" / "SKILL.md").write_bytes(b"broken")
        await sync()
        assert (await actions.read_skill(it.services, it.owner, it.project_id, "greet")).instructions == "Say hello."
        assert ("wave", True, False) in await names(it)
        (folder / "wave" / "SKILL.md").unlink()
        (folder / "greet").rename(folder / "hello")
        await sync()
        assert await names(it) == []
        (folder / "hello" / "SKILL.md").write_bytes(main("hello"))
        await sync()
        assert await names(it) == [("hello", True, True)]
        await ServerFolder(db, it.services.blobs, clock, SkillSettings()).run()
        assert await names(it) == []


async def test_uses_go_with_their_run_and_skills_with_their_project(db: Database, tmp_path: Path) -> None:
    async with skilled(db, tmp_path, turn("", use()), turn("Done.")) as it:
        await add(it)
        run_id = (await it.start()).run_id
        await it.ended(run_id)
        assert await db.read(lambda tx: tx.exists(skill_uses, {"run_id": run_id}))
        await db.write(lambda tx: tx.execute(sa.delete(runs).where(runs.c.id == run_id)))
        assert not await db.read(lambda tx: tx.exists(skill_uses, {"run_id": run_id}))
        assert await db.read(lambda tx: tx.exists(skills, {"project_id": it.project_id}))

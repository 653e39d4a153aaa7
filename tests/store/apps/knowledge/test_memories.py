"""Memories: kept once, used only where everybody who reads the answers may read them, edited and deleted by people."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.apps.knowledge.memories import actions, store
from outlast.apps.knowledge.memories.ports import KNOWN_SECRETS
from outlast.apps.knowledge.memories.rules import MEMORY_CHARS
from outlast.apps.knowledge.search import Knowledge
from outlast.apps.knowledge.settings import MemorySettings
from outlast.apps.knowledge.vector_keeper import memories_without_vector, save_vectors
from outlast.base.errors import Conflict, Forbidden, InputTooLarge, MalformedInput, NotFound
from outlast.db.database import Database, Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.library.memories import MemoryScope
from outlast.kernel.mentions.rules import one_line
from outlast.kernel.projects import store as projects
from outlast.kernel.projects.rules import Role
from outlast.kernel.runs.store import run_of
from outlast.kernel.runs.transcript import Run
from outlast.kernel.services import Services
from outlast.kernel.settings import Settings, settings_class
from outlast.kernel.threads.actions import delete_thread, fork_thread
from outlast.testing.clock import ManualClock
from outlast.testing.embeddings import HashingEmbedder
from outlast_sandbox.egress.redaction import Redactor
from tests.app_settings import settings_with
from tests.factories import Team, join, make_project, make_run, make_services, make_thread

LINES = [
    "show my issues → listed 12 open issues in a table",
    "add slack → a button that sends an issue to a channel",
    "darker header → changed colours",
    "sort by date → table sorted by creation",
]
SECRET = "correct-horse-battery-staple"


@dataclass
class World:
    """A team with a shared project, and one member's own project."""

    db: Database
    services: Services
    team: Team
    private_id: str
    private_thread: str

    @property
    def settings(self) -> Settings:
        return self.services.settings

    async def run(self, thread_id: str, actor: Actor) -> Run:
        def begin(tx: Tx) -> Run:
            return run_of(tx, make_run(tx, thread_id, actor, status="completed", leg="ended"))

        return await self.db.write(begin)

    async def shared(self, actor: Actor | None = None) -> Run:
        return await self.run(self.team.thread_id, actor or self.team.owner)

    async def private(self) -> Run:
        return await self.run(self.private_thread, self.team.owner)

    async def remember(self, run: Run, line: str, *, for_everyone: bool = False) -> None:
        await self.db.write(actions.remember, self.settings, run, line, for_everyone=for_everyone)

    async def prompted(self, run: Run) -> list[str]:
        """The memories in the prompt of a run that begins now."""
        fresh = await self.run(run.thread_id, Actor(run.started_by, "", "token"))
        return [text for _, text, _ in await self.db.read(store.for_prompt, fresh) or []]

    async def recalled(self, run: Run, query: str) -> list[str]:
        found = await Knowledge(self.db, ManualClock()).recall(run, query, limit=50)
        return [one.summary for one in found]

    async def listed(self, scope: MemoryScope, actor: Actor | None = None, project_id: str = "") -> list[str]:
        asked = actor or self.team.owner, project_id or self.team.project_id
        return [one.text for one in (await actions.list_memories(self.services, *asked, scope)).items]


@pytest.fixture
async def world(db: Database, tmp_path: Path) -> World:
    def make(tx: Tx) -> tuple[Team, str, str]:
        team = Team(tx)
        own = make_project(tx, team.owner, "Own")
        return team, own, make_thread(tx, own, team.owner, "hello")

    return World(db, services_of(db, tmp_path), *await db.write(make))


def services_of(db: Database, folder: Path, **memory: Any) -> Services:
    settings = settings_with(Settings(), MemorySettings(**memory)) if memory else settings_class()()
    return make_services(db, folder, settings, implementations={KNOWN_SECRETS: Redactor([SECRET.encode()])})


async def lines_of(world: World, *lines: str) -> None:
    def write(tx: Tx) -> None:
        for number, line in enumerate(lines):
            store.insert(tx, world.team.project_id, "run", line, thread_id=world.team.thread_id, run_id=f"run_{number}")

    await world.db.write(write)


# --- who reads what


async def test_what_is_remembered_in_a_private_thread_is_the_persons_own_and_used_only_there(world: World) -> None:
    private, shared = await world.private(), await world.shared()
    await world.remember(private, "I like short answers")
    assert await world.prompted(private) == ["I like short answers"]
    assert await world.recalled(private, "short answers") == ["I like short answers"]
    assert await world.prompted(shared) == []
    assert await world.recalled(shared, "short answers") == []
    assert await world.recalled(await world.shared(world.team.editor), "short answers") == []


async def test_nothing_from_a_private_thread_is_remembered_for_others(world: World) -> None:
    with pytest.raises(Conflict, match="private"):
        await world.remember(await world.private(), "We deploy on Fridays", for_everyone=True)
    assert await world.listed("project", project_id=world.private_id) == []


async def test_what_is_remembered_for_everyone_is_used_by_each_member_of_the_project_alone(world: World) -> None:
    await world.remember(await world.shared(), "We deploy on Fridays", for_everyone=True)
    for actor in (world.team.owner, world.team.editor):
        run = await world.shared(actor)
        assert await world.prompted(run) == ["We deploy on Fridays"]
        assert await world.recalled(run, "deploy") == ["We deploy on Fridays"]
    assert await world.prompted(await world.private()) == []
    assert await world.recalled(await world.private(), "deploy") == []


async def test_what_a_person_remembers_in_a_shared_thread_is_used_in_their_private_ones_alone(world: World) -> None:
    await world.remember(await world.shared(), "I live in Graz")
    assert await world.prompted(await world.shared()) == []
    assert await world.prompted(await world.private()) == ["I live in Graz"]


async def test_a_project_that_gets_a_second_member_shows_no_personal_memory_any_more(world: World) -> None:
    private = await world.private()
    await world.remember(private, "I like short answers")
    await world.db.write(lambda tx: projects.add_member(tx, world.private_id, world.team.viewer.user_id, Role.VIEWER))
    assert await world.prompted(private) == []
    assert await world.recalled(private, "short answers") == []
    await world.remember(private, "We ship on Mondays", for_everyone=True)
    assert await world.prompted(private) == ["We ship on Mondays"]
    await world.db.write(projects.remove_member, world.private_id, world.team.viewer.user_id)
    assert await world.prompted(private) == ["We ship on Mondays", "I like short answers"]


async def test_a_fork_uses_what_its_own_project_may_and_nothing_of_its_parents_run_twice(world: World) -> None:
    await world.remember(await world.private(), "I like short answers")
    fork = await fork_thread(world.services, world.team.owner, world.team.thread_id)
    run = await world.run(fork.id, world.team.owner)
    assert await world.prompted(run) == []
    assert await world.recalled(run, "short answers") == []
    own = await fork_thread(world.services, world.team.owner, world.private_thread)
    assert await world.prompted(await world.run(own.id, world.team.owner)) == ["I like short answers"]
    with pytest.raises(Conflict, match="private"):
        await world.remember(await world.run(own.id, world.team.owner), "for all", for_everyone=True)


async def test_a_person_who_left_a_project_uses_nothing_there(world: World) -> None:
    run = await world.shared(world.team.editor)
    await world.remember(run, "I like short answers")
    for actor in (world.team.editor, world.team.viewer):
        await world.db.write(projects.remove_member, world.team.project_id, actor.user_id)
    assert await world.recalled(run, "short answers") == []
    with pytest.raises(NotFound):
        await world.remember(run, "more")


@pytest.mark.parametrize("seed", range(6))
async def test_no_order_of_changes_shows_a_persons_memory_to_another(world: World, seed: int) -> None:
    """Property: whoever remembers where, whoever joins and leaves: in a project with other members no prompt and no
    recall has a personal memory; in a private one only the person's own."""
    chance, team = random.Random(seed), world.team
    people = [team.owner, team.editor, team.viewer]
    rooms: dict[str, tuple[str, set[str]]] = {}
    for person in people:
        project = await world.db.write(make_project, person, person.name)
        thread = await world.db.write(make_thread, project, person, "hi")
        rooms[project] = thread, {person.user_id}
    owners = {project: next(iter(members)) for project, (_, members) in rooms.items()}
    for number in range(40):
        project, (thread, members) = chance.choice(list(rooms.items()))
        who = chance.choice(people)
        if chance.random() < 0.4 and who.user_id != owners[project]:
            if who.user_id in members:
                await world.db.write(projects.remove_member, project, who.user_id)
            else:
                await world.db.write(join, project, who, "editor")
            members ^= {who.user_id}
        elif who.user_id in members:
            run = await world.run(thread, who)
            for_everyone = chance.random() < 0.5
            try:
                whose = f"{'all of ' + project if for_everyone else who.user_id} fact {number}"
                await world.remember(run, whose, for_everyone=for_everyone)
            except Conflict:
                assert members == {who.user_id}
        for project, (thread, members) in rooms.items():
            run = await world.run(thread, Actor(owners[project], "", "token"))
            may = {f"all of {project}"} | ({owners[project]} if len(members) == 1 else set())
            for line in [*await world.prompted(run), *await world.recalled(run, "fact")]:
                assert any(line.startswith(one) for one in may), (seed, number, line, may)


# --- runs' lines


async def test_lines_of_runs_are_read_newest_first_and_recalled_in_their_project(world: World) -> None:
    await lines_of(world, *LINES)
    found = await world.db.read(store.of_thread, world.team.thread_id, limit=2)
    assert {one.run_id for one in found} <= {f"run_{number}" for number in range(4)}
    assert await world.db.read(store.summaries_of_runs, ["run_0", "run_9"]) == {"run_0": LINES[0]}
    assert (await world.recalled(await world.shared(), "slack channel"))[0] == LINES[1]
    assert await world.prompted(await world.shared()) == []  # found by search alone
    assert await world.recalled(await world.private(), "slack channel") == []


@pytest.mark.parametrize("embedded", [False, True])
async def test_what_resembles_the_request_is_recalled_best_first(world: World, embedded: bool) -> None:
    await lines_of(world, *LINES)
    embedder = HashingEmbedder() if embedded else None
    if embedder is not None:
        texts = dict(await world.db.read(memories_without_vector, embedder.model, 100))
        made = await embedder.embed(list(texts.values()))
        await world.db.write(save_vectors, embedder.model, dict(zip(texts, made, strict=True)))
        assert await world.db.read(memories_without_vector, embedder.model, 100) == []
    knowledge, run = Knowledge(world.db, ManualClock(), embedder=embedder), await world.shared()
    found = await knowledge.recall(run, "send it to slack", thread_id=world.team.thread_id, limit=2)
    assert found[0].summary == LINES[1]
    assert len(found) <= 2


async def test_a_run_never_recalls_itself_nor_what_is_told_anyhow(world: World) -> None:
    await lines_of(world, *LINES)
    run = await world.shared()
    knowledge = Knowledge(world.db, ManualClock())
    found = await knowledge.recall(run, "slack channel", thread_id=world.team.thread_id, without={"run_1"})
    assert LINES[1] not in [one.summary for one in found]
    found = await knowledge.recall(run._replace(id="run_1"), "slack channel")
    assert LINES[1] not in [one.summary for one in found]


async def test_nothing_is_recalled_for_nothing(world: World) -> None:
    await lines_of(world, *LINES)
    knowledge, run = Knowledge(world.db, ManualClock()), await world.shared()
    assert await knowledge.recall(run, "   ") == []
    assert await knowledge.recall(run, "slack", limit=0) == []
    assert await knowledge.recall(run, "zebra") == []
    assert await knowledge.recall(run, "slack", thread_id="thr_none") == []


@given(st.text())
def test_a_line_is_one_line_of_bounded_length(text: str) -> None:
    line = one_line(text, MEMORY_CHARS)
    assert "\n" not in line
    assert len(line) <= MEMORY_CHARS
    assert one_line(line, MEMORY_CHARS) == line


async def test_the_line_of_a_run_goes_with_its_thread_and_what_was_remembered_there_stays(world: World) -> None:
    await lines_of(world, *LINES)

    def begin(tx: Tx) -> Run:
        thread_id = make_thread(tx, world.team.project_id, world.team.owner, "hi")
        return run_of(tx, make_run(tx, thread_id, world.team.owner, leg="ended", status="completed"))

    run = await world.db.write(begin)
    await world.remember(run, "We deploy on Fridays", for_everyone=True)
    await world.db.write(
        lambda tx: store.insert(tx, run.project_id, "run", "gone", thread_id=run.thread_id, run_id=run.id)
    )
    assert (await actions.list_memories(world.services, world.team.owner, run.project_id, "project")).items[
        0
    ].thread_id == run.thread_id
    await delete_thread(world.services, world.team.owner, run.thread_id)
    kept = (await actions.list_memories(world.services, world.team.owner, run.project_id, "project")).items
    assert [(one.text, one.thread_id) for one in kept] == [("We deploy on Fridays", None)]
    assert "gone" not in await world.listed("run")


# --- by hand


async def test_members_read_a_projects_memories_and_editors_change_them(world: World) -> None:
    services, team = world.services, world.team
    made = await actions.add_memory(services, team.editor, team.project_id, "  We use\nPostgreSQL ", "project")
    assert (made.text, made.created_by_name) == ("We use PostgreSQL", "Emil")
    again = await actions.add_memory(services, team.owner, team.project_id, "We use PostgreSQL", "project")
    assert again.id == made.id
    changed = await actions.edit_memory(services, team.owner, made.id, "We use SQLite")
    assert changed.text == "We use SQLite"
    assert changed.updated_at is not None
    assert await world.listed("project", team.viewer) == ["We use SQLite"]
    with pytest.raises(Forbidden):
        await actions.add_memory(services, team.viewer, team.project_id, "no", "project")
    with pytest.raises(Forbidden):
        await actions.edit_memory(services, team.viewer, made.id, "no")
    with pytest.raises(Forbidden):
        await actions.delete_memory(services, team.viewer, made.id)
    for denied in (
        actions.list_memories(services, team.stranger, team.project_id, "project"),
        actions.add_memory(services, team.stranger, team.project_id, "no", "person"),
        actions.edit_memory(services, team.stranger, made.id, "no"),
        actions.delete_memory(services, team.stranger, made.id),
        actions.read_switches(services, team.stranger, team.project_id),
    ):
        with pytest.raises(NotFound):
            await denied
    await actions.delete_memory(services, team.editor, made.id)
    assert await world.listed("project") == []


async def test_a_persons_own_memories_are_nobody_elses_and_shown_in_each_of_their_projects(world: World) -> None:
    services, team = world.services, world.team
    made = await actions.add_memory(services, team.viewer, team.project_id, "I am new", "person")
    assert await world.listed("person", team.viewer) == ["I am new"]
    assert await world.listed("person", team.owner) == []
    assert await world.listed("project", team.owner) == []
    for denied in (
        actions.edit_memory(services, team.owner, made.id, "no"),
        actions.delete_memory(services, team.owner, made.id),
    ):
        with pytest.raises(NotFound):
            await denied
    await world.remember(await world.private(), "I like short answers")
    assert await world.listed("person", project_id=team.project_id) == ["I like short answers"]
    (own,) = (await actions.list_memories(services, team.owner, team.project_id, "person")).items
    assert own.thread_id is None  # a thread of another project is not shown here


async def test_a_list_comes_in_pages(world: World) -> None:
    for number in range(5):
        await actions.add_memory(world.services, world.team.owner, world.team.project_id, f"fact {number}", "project")
    asked = world.team.owner, world.team.project_id
    first = await actions.list_memories(world.services, *asked, "project", None, 3)
    rest = await actions.list_memories(world.services, *asked, "project", first.next, 3)
    assert [one.text for one in [*first.items, *rest.items]] == [f"fact {number}" for number in (4, 3, 2, 1, 0)]
    assert rest.next is None


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (" \n", MalformedInput),
        ("x" * 501, InputTooLarge),
        (f"the key is {SECRET}", MalformedInput),
        ("use ghp_abcdefghijklmnopqrstuvwxyz0123456789", MalformedInput),
    ],
)
async def test_a_text_that_may_not_be_a_memory_is_refused(world: World, text: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        await actions.add_memory(world.services, world.team.owner, world.team.project_id, text, "project")
    assert await world.listed("project") == []


async def test_a_project_and_a_person_have_a_limit_of_their_own(db: Database, world: World, tmp_path: Path) -> None:
    services = services_of(db, tmp_path, per_owner=1)
    for scope in ("project", "person"):
        await actions.add_memory(services, world.team.owner, world.team.project_id, "one", scope)
        with pytest.raises(InputTooLarge, match="limit"):
            await actions.add_memory(services, world.team.owner, world.team.project_id, "two", scope)


# --- switches


async def test_nothing_is_used_or_written_where_memory_is_off(world: World) -> None:
    services, team = world.services, world.team
    await world.remember(await world.shared(), "We deploy on Fridays", for_everyone=True)
    await lines_of(world, *LINES)
    run, other = await world.shared(), await world.shared(team.editor)
    off = await actions.change_switches(services, team.owner, team.project_id, project=None, person=False)
    assert (off.server, off.project, off.person) == (True, True, False)
    assert await world.db.read(store.for_prompt, run) is None
    assert await world.recalled(run, "deploy") == []
    assert await world.prompted(other) == ["We deploy on Fridays"]  # it is the other's own switch
    with pytest.raises(Conflict, match="off"):
        await world.remember(run, "more")
    with pytest.raises(Conflict, match="off"):
        await actions.add_memory(services, team.owner, team.project_id, "more", "person")
    await world.db.write(store.save_summary, world.settings, run, "asked → done", [])
    await actions.change_switches(services, team.owner, team.project_id, project=False, person=True)
    assert await world.db.read(store.for_prompt, other) is None
    assert await world.recalled(other, "slack") == []
    await world.db.write(store.save_summary, world.settings, other, "asked → done", [])
    assert await world.db.read(store.summaries_of_runs, [run.id, other.id]) == {}
    (kept,) = (await actions.list_memories(services, team.owner, team.project_id, "project")).items
    await actions.delete_memory(services, team.owner, kept.id)  # people can always delete
    await actions.change_switches(services, team.owner, team.project_id, project=True, person=None)
    assert await world.prompted(other) == []
    await world.db.write(store.save_summary, world.settings, other, "asked → done", [])
    assert await world.db.read(store.summaries_of_runs, [other.id]) == {other.id: "asked → done"}


async def test_a_server_without_memory_writes_and_recalls_nothing(db: Database, world: World, tmp_path: Path) -> None:
    services, run = services_of(db, tmp_path, enabled=False), await world.shared()
    await lines_of(world, *LINES)
    await db.write(store.save_summary, services.settings, run, "asked → done", [])
    assert await db.read(store.summaries_of_runs, [run.id]) == {}
    assert await Knowledge(db, ManualClock(), remembers=False).recall(run, "slack") == []
    with pytest.raises(Conflict, match="off"):
        await actions.add_memory(services, world.team.owner, world.team.project_id, "one", "project")
    assert (await actions.read_switches(services, world.team.owner, world.team.project_id)).server is False


async def test_only_owners_turn_a_projects_memory_off(world: World) -> None:
    asked = world.services, world.team.editor, world.team.project_id
    with pytest.raises(Forbidden):
        await actions.change_switches(*asked, project=False, person=None)
    assert (await actions.change_switches(*asked, project=None, person=False)).person is False


# --- what a run begins with


async def test_a_prompt_is_the_same_for_each_turn_though_the_run_remembers_something(world: World) -> None:
    await world.remember(await world.shared(), "before", for_everyone=True)
    run = await world.shared()
    await world.remember(run, "meanwhile", for_everyone=True)
    assert [text for _, text, _ in await world.db.read(store.for_prompt, run) or []] == ["before"]
    assert await world.prompted(run) == ["meanwhile", "before"]


async def test_a_deleted_project_takes_its_memories_along(world: World) -> None:
    await world.remember(await world.private(), "I like short answers")
    await world.db.write(projects.delete_project, world.private_id)
    assert await world.listed("person") == []

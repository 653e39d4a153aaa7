"""Saved modules: kept once by path, found while their files live, published to a person."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from outlast.apps.knowledge import module_store as modules
from outlast.apps.knowledge.module_store import Modules, dependencies_hash
from outlast.apps.knowledge.search import Knowledge
from outlast.apps.knowledge.vector_keeper import modules_without_vector, save_vectors
from outlast.base.errors import InternalError, NotFound
from outlast.base.ids import new_id
from outlast.db.blobs.folder import FolderBlobs
from outlast.db.database import Database, Tx
from outlast.kernel.deployment import Deployment, join
from outlast.kernel.library.modules import Module, ModuleOrigin, NewModule, library_usage
from outlast.kernel.projects.store import delete_project
from outlast.kernel.sandboxes.checkpoints.garbage import collect
from outlast.kernel.sandboxes.tables import workspaces
from outlast.testing.clock import ManualClock
from outlast.testing.embeddings import HashingEmbedder
from tests.factories import Team

LINEAR = NewModule(
    "lib/linear.ts",
    "Linear: all my open issues, page by page",
    ("openIssues(page)",),
    "import { openIssues } from './lib/linear.ts'",
    "a" * 64,
    verified=True,
)
SLACK = NewModule("lib/slack.ts", "Slack: send a message", ("send(channel)",), "import … './lib/slack.ts'")


class Files:
    """Files of workspaces, as the test says."""

    def __init__(self, *paths: str, broken: bool = False) -> None:
        self.paths, self.broken = frozenset(paths), broken

    async def holds(self, workspace_id: str, paths: Collection[str]) -> frozenset[str]:
        if self.broken:
            raise InternalError("A checkpoint's manifest is damaged.")
        return self.paths & frozenset(paths)


@pytest.fixture
async def team(db: Database) -> Team:
    made: Team = await db.write(Team)
    return made


@pytest.fixture
async def workspace_id(db: Database, team: Team) -> str:
    def make(tx: Tx) -> str:
        found = new_id("workspace")
        owner = {"owner_type": "page", "owner_id": "pag_1", "project_id": team.project_id}
        tx.insert(workspaces, id=found, **owner, created_at=tx.now, last_used_at=tx.now)
        return found

    return await db.write(make)


async def save(db: Database, team: Team, workspace_id: str, *some: NewModule, **more: Any) -> list[Module]:
    origin = replace(ModuleOrigin(team.project_id, None, team.owner.user_id, "run_1"), **more)
    return await db.write(modules.save, some, origin, workspace_id, "d1")


async def publish(db: Database, team: Team, one: NewModule, blob: str = "b" * 64) -> Module:
    origin = ModuleOrigin(team.project_id, None, team.owner.user_id, "run_1")
    return await db.write(modules.publish, replace(one, content_hash=blob), origin, team.editor.user_id, "d1")


async def test_the_last_word_on_a_path_counts(db: Database, team: Team, workspace_id: str) -> None:
    (first,) = await save(db, team, workspace_id, LINEAR)
    again = replace(LINEAR, description="Linear, better", verified=False)
    (second,) = await save(db, team, workspace_id, again, run_id="run_2")
    assert second.id == first.id
    assert second.description == "Linear, better"
    assert second.hash != first.hash
    assert (first.verified("d1"), second.verified("d1")) == (True, False)
    assert [one.run_id for one in await db.read(modules.of_workspace, workspace_id)] == ["run_2"]


async def test_what_is_told_of_a_module_is_the_same_everywhere(db: Database, team: Team, workspace_id: str) -> None:
    (one,) = await save(db, team, workspace_id, LINEAR)
    data = one.data("d2")
    assert (data.scope, data.verified, data.exports) == ("session", False, ["openIssues(page)"])
    assert one.data("d1").verified is True
    assert await db.read(modules.of_workspace, workspace_id) == [one]


async def test_modules_are_usable_while_their_files_live_and_forgotten_at_once_after(
    db: Database, team: Team, workspace_id: str
) -> None:
    await save(db, team, workspace_id, LINEAR, SLACK)
    files = Files("lib/slack.ts")
    shelf = Modules(db, files, "d1")
    assert [one.path for one in await shelf.usable(workspace_id, team.owner.user_id)] == ["lib/slack.ts"]
    assert [one.path for one in await db.read(modules.of_workspace, workspace_id)] == ["lib/slack.ts"]
    files.paths = frozenset({"lib/linear.ts", "lib/slack.ts"})
    assert [one.path for one in await shelf.usable(workspace_id, None)] == ["lib/slack.ts"]


async def test_without_sandboxes_nothing_is_usable_and_nothing_is_forgotten(
    db: Database, team: Team, workspace_id: str
) -> None:
    await save(db, team, workspace_id, LINEAR)
    await publish(db, team, SLACK)
    assert await Modules(db, None, "").usable(workspace_id, team.owner.user_id) == []
    assert len(await db.read(modules.of_workspace, workspace_id)) == 1


async def test_files_that_cannot_be_looked_at_make_modules_unusable_and_forget_none(
    db: Database, team: Team, workspace_id: str
) -> None:
    await save(db, team, workspace_id, LINEAR)
    published = await publish(db, team, SLACK)
    shelf = Modules(db, Files("lib/linear.ts", broken=True), "d1")
    assert await shelf.usable(workspace_id, team.owner.user_id) == [published]
    assert len(await db.read(modules.of_workspace, workspace_id)) == 1


async def test_one_that_was_announced_anew_meanwhile_is_not_forgotten(
    db: Database, team: Team, workspace_id: str
) -> None:
    (seen,) = await save(db, team, workspace_id, LINEAR)
    await save(db, team, workspace_id, replace(LINEAR, description="Again"))
    await db.write(modules.remove_unchanged, [seen])
    assert len(await db.read(modules.of_workspace, workspace_id)) == 1


async def test_a_workspace_that_is_deleted_takes_its_modules_along_and_not_the_published_ones(
    db: Database, team: Team, workspace_id: str
) -> None:
    await save(db, team, workspace_id, LINEAR)
    await publish(db, team, LINEAR)
    await db.write(lambda tx: tx.execute(sa.delete(workspaces).where(workspaces.c.id == workspace_id)))
    assert await db.read(modules.of_workspace, workspace_id) == []
    assert len(await db.read(modules.of_user, team.owner.user_id)) == 1


async def test_a_published_module_outlives_the_project_that_it_was_written_in(
    db: Database, team: Team, workspace_id: str
) -> None:
    await save(db, team, workspace_id, LINEAR)
    one = await publish(db, team, LINEAR)
    await db.write(delete_project, team.project_id)
    assert await db.read(modules.of_workspace, workspace_id) == []
    (left,) = await db.read(modules.of_user, team.owner.user_id)
    assert (left.id, left.project_id) == (one.id, None)
    assert left.data("d1").project_id is None


async def test_a_published_module_is_found_by_its_person_alone_under_its_own_path(
    db: Database, team: Team, workspace_id: str
) -> None:
    one = await publish(db, team, LINEAR)
    shelf = Modules(db, Files(), "d1")
    (told,) = await shelf.usable(None, team.owner.user_id)
    assert (told.id, told.imported_path) == (one.id, "library/lib/linear.ts")
    assert told.imported_usage == "import { openIssues } from './library/lib/linear.ts'"
    assert one.published_by == team.editor.user_id
    assert await shelf.usable(None, team.editor.user_id) == []


async def test_publishing_the_same_path_again_replaces_it(db: Database, team: Team) -> None:
    first = await publish(db, team, LINEAR)
    second = await publish(db, team, replace(LINEAR, description="Better"), blob="c" * 64)
    assert second.id == first.id
    assert second.blob == "c" * 64
    assert len(await db.read(modules.of_user, team.owner.user_id)) == 1


async def test_search_finds_modules_beside_documentation_and_says_which_are_unverified(
    db: Database, team: Team, workspace_id: str
) -> None:
    await save(db, team, workspace_id, LINEAR, SLACK)
    shelf = Modules(db, Files("lib/linear.ts", "lib/slack.ts"), "others")
    knowledge = Knowledge(db, ManualClock(), modules=shelf)
    answer = await knowledge.search("my open issues", project_id=team.project_id, workspace_id=workspace_id)
    assert [(hit.type, hit.heading, hit.verified) for hit in answer.items] == [("module", "lib/linear.ts", False)]
    await db.write(modules.mark_verified, [answer.items[0].id], "others")
    again = await knowledge.search("open issues", project_id=team.project_id, workspace_id=workspace_id)
    assert again.items[0].verified is True


async def test_modules_without_a_vector_are_named_once_each(db: Database, team: Team, workspace_id: str) -> None:
    (one,) = await save(db, team, workspace_id, LINEAR)
    embedder = HashingEmbedder()
    assert await db.read(modules_without_vector, embedder.model, 10) == [(one.hash, one.text)]
    (vector,) = await embedder.embed([one.text])
    await db.write(save_vectors, embedder.model, {one.hash: vector})
    assert await db.read(modules_without_vector, embedder.model, 10) == []


async def test_the_file_of_a_published_module_stays_among_the_blobs(db: Database, team: Team, tmp_path: Path) -> None:
    blobs = FolderBlobs(tmp_path / "blobs")
    await join(db, Deployment(tmp_path, blobs.folder))
    kept, unused = blobs.put(b"export const a = 1;"), blobs.put(b"unused")
    one = await publish(db, team, LINEAR, blob=kept)
    assert (await collect(db, blobs, timedelta(days=30), grace_s=-60, data_dir=tmp_path)).blobs == 1
    assert blobs.get(kept) == b"export const a = 1;"
    with pytest.raises(NotFound):
        blobs.get(unused)
    await db.write(modules.remove, [one.id])
    assert (await collect(db, blobs, timedelta(days=30), grace_s=-60, data_dir=tmp_path)).blobs == 1


def test_the_library_is_named_in_an_import_of_either_language() -> None:
    assert library_usage("lib/a.ts", "import { x } from './lib/a.ts'") == "import { x } from './library/lib/a.ts'"
    assert library_usage("lib/a.py", "from lib.a import x") == "from library.lib.a import x"


def test_the_hash_of_dependencies_knows_no_order() -> None:
    assert dependencies_hash(["npm:b", "npm:a"]) == dependencies_hash(["npm:a", "npm:b"])
    assert dependencies_hash(["npm:a"]) != dependencies_hash(["npm:a@2"])
    assert dependencies_hash(["npm:a"]) != dependencies_hash(["npm:a"], ["make"])

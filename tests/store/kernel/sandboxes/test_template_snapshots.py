"""Snapshots of app templates beside the configured one, on both databases."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import anyio
import pytest

from outlast.base.errors import MalformedInput, SandboxUnavailable
from outlast.db.database import Database
from outlast.kernel.sandboxes.settings import DependencySettings, SandboxSettings
from outlast.kernel.sandboxes.snapshots.keeper import SnapshotKeeper
from outlast.kernel.sandboxes.templates import Template
from outlast_sandbox.interface import SnapshotRecipe
from outlast_sandbox.providers.memory import MemoryProvider
from tests.store.kernel.sandboxes import test_snapshots as plain
from tests.templates import small_template

running = plain.running


class House(plain.House):
    def of(self, *templates: Template, packages: tuple[str, ...] = ()) -> SnapshotKeeper:
        settings = SandboxSettings(dependencies=tuple(DependencySettings(package) for package in packages))
        named = {template.name: template for template in templates}
        return SnapshotKeeper(
            self.db, self.provider, self.clock, settings, node_id="nod_1", templates=named, env={"X": "1"}
        )


@pytest.fixture
async def house(db: Database) -> House:
    return await plain.furnished(House(db))


async def start(keeper: SnapshotKeeper, house: House, template: str = "small") -> str:
    return await keeper.start_from("sbx_1", house.project_id, template=template)


async def test_it_is_built_at_the_first_need_with_what_is_configured_and_those_who_wait_are_told(house: House) -> None:
    house.provider.go.set()
    keeper = house.of(small_template(), packages=("zod@3",))
    async with running(keeper):
        configured = await keeper.start_from("sbx_1", house.project_id)
        assert house.provider.begun == [configured]
        app = await start(keeper, house)
    assert house.provider.begun == [configured, app]
    recipe: SnapshotRecipe | None = await keeper.recipe("small")
    assert recipe is not None
    assert recipe.dependencies == ("npm:zod@3",)
    assert recipe.project is not None
    assert (recipe.project.layers, recipe.project.env["X"]) == (("node_modules", ".cache"), "1")
    assert {data.template for data in await house.told() if data.name == app} == {"small"}
    rows, _ = await keeper.listed()
    assert {row.name: row.recipe["template"] for row in rows} == {app: "small", configured: ""}


async def test_it_can_be_wanted_before_it_is_needed(house: House) -> None:
    keeper = house.of(small_template())
    async with running(keeper):
        keeper.want("unknown")
        keeper.want("small")
        await house.provider.arrived.wait()
        house.provider.go.set()
        assert await start(keeper, house) == house.provider.begun[0]
    assert len(house.provider.begun) == 1


async def test_only_what_the_installation_depends_on_builds_it_anew(house: House) -> None:
    begun = small_template()
    names = []
    for template in (
        begun,
        replace(begun, files={**begun.files, "index.html": b"other"}),
        replace(begun, memory_mb=4096),
        replace(begun, files={**begun.files, "app/page.tsx": b"other"}),
        replace(begun, commands=("true",)),
        replace(begun, layers=()),
        replace(begun, env={}),
    ):
        recipe = await house.of(template).recipe("small")
        assert recipe is not None
        names.append(recipe.name)
    assert len(set(names[:3])) == 1
    assert len(set(names)) == 5


async def test_a_failed_build_falls_back_on_an_older_one_of_the_same_template_only(house: House) -> None:
    house.provider.go.set()
    configured = await house.of(packages=("zod@3",)).build()
    assert configured is not None
    house.provider.wrong = "npm says: no such version"
    keeper = house.of(small_template())
    async with running(keeper):
        with pytest.raises(SandboxUnavailable, match="no such version") as refused:
            await start(keeper, house)
    assert "--template small" in refused.value.hint
    house.provider.wrong = ""
    older = await house.of(small_template()).build(template="small")
    assert older is not None
    house.provider.wrong = "npm says: no such version"
    keeper = house.of(small_template(app__page_tsx=b"newer"))
    async with running(keeper):
        assert await start(keeper, house) == older.ref


async def test_it_is_collected_when_nobody_has_used_it_for_long(house: House) -> None:
    house.provider.go.set()
    keeper = house.of(small_template(), packages=("zod@3",))
    configured, app = await keeper.build(), await keeper.build(template="small")
    assert configured is not None
    assert app is not None
    house.clock.shift = timedelta(days=15)
    assert await keeper.collect() == [app.name]
    async with running(keeper):
        with anyio.fail_after(30):
            assert await start(keeper, house) == app.name, "built anew when it is needed"


async def test_there_is_none_of_an_unknown_template_and_where_there_are_no_snapshots(house: House) -> None:
    with pytest.raises(MalformedInput, match="svelte"):
        await start(house.of(small_template()), house, "svelte")
    small = {"small": small_template()}
    keeper = SnapshotKeeper(
        house.db, MemoryProvider(), house.clock, SandboxSettings(), node_id="nod_1", templates=small
    )
    assert await start(keeper, house) == ""

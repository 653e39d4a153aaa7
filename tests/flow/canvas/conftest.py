"""A site with screens: one small app template, files kept in checkpoints, no sandboxes."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Self

import anyio
import pytest

from outlast.base.clock import SystemClock
from outlast.db.blobs.folder import FolderBlobs
from outlast.db.connect import open_database
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.http.allowed_hosts import known_hosts
from outlast.kernel.sandboxes.checkpoints.keeper import CheckpointKeeper
from outlast.kernel.sandboxes.seeds import Seeds
from outlast.kernel.settings import Settings
from outlast.kernel.streams.actions import follow_project
from outlast.surfaces.http.application import create_http
from outlast.testing.agents import FakeAgent
from outlast_sandbox.interface import Sandbox
from tests.asgi import Browser
from tests.factories import Team, make_services
from tests.flow.harness import frames
from tests.flow.http.conftest import Site, surface_over
from tests.templates import small_templates


@pytest.fixture(scope="module")
async def site(migrated_sqlite: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    """One site for the tests of a file: each makes its own users and projects."""
    folder = tmp_path_factory.mktemp("screens")
    shutil.copy(migrated_sqlite, folder / "outlast.db")
    clock = SystemClock()
    database = open_database("sqlite:///outlast.db", folder, clock)
    settings, blobs = Settings(), FolderBlobs(folder / "blobs")
    assert settings.sandbox is not None
    keeper = CheckpointKeeper(
        database, blobs, clock, settings.sandbox, folder, node_id="nod_test", local=True, find=_nothing
    )
    services = make_services(
        database,
        folder,
        settings,
        blobs=blobs,
        clock=clock,
        checkpoints=keeper,
        seeds=Seeds(blobs, small_templates()),
        agents=[FakeAgent(), FakeAgent(name="screen")],
    )
    surface = surface_over(services, None)
    browser = Browser(create_http(surface, known_hosts("127.0.0.1", "", ())))
    yield Site(services, surface, browser, browser)
    await database.aclose()


@pytest.fixture
async def team(site: Site) -> Team:
    made: Team = await site.services.db.write(Team)
    return made


async def _nothing(_workspace_id: str) -> Sandbox | None:
    return None


async def make_screen(browser: Browser, project_id: str, **body: Any) -> dict[str, Any]:
    answer = await browser.post(f"/v1/projects/{project_id}/screens", body)
    assert answer.status == 201, answer.body
    made: dict[str, Any] = answer.json()
    return made


async def log_seq(browser: Browser, project_id: str) -> str:
    return str((await browser.get(f"/v1/projects/{project_id}")).json()["cursor"])


class Watcher:
    """Somebody who follows a project's stream from now on."""

    def __init__(self, site: Site, actor: Actor, project_id: str) -> None:
        self._site, self._actor, self._project_id = site, actor, project_id

    async def __aenter__(self) -> Self:
        browser = await self._site.signed_in(self._actor)
        cursor = await log_seq(browser, self._project_id)
        chunks = await follow_project(self._site.services, self._actor, self._project_id, cursor)
        self._frames = frames(chunks)
        return self

    async def __aexit__(self, *_: object) -> None:
        """Nothing is held between two events."""

    async def next(self, name: str) -> dict[str, Any]:
        """The data of the next event of that name."""
        with anyio.fail_after(60):
            async for _, event in self._frames:
                if event["event"] == name:
                    data: dict[str, Any] = event["data"]
                    return data
        raise AssertionError(f"the stream ended without {name}")

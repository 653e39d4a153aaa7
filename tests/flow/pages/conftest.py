"""A site with pages: files kept in checkpoints, no sandboxes; and real sandboxes for agents that run code."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from outlast.apps.knowledge.module_store import Modules
from outlast.base.clock import SystemClock
from outlast.db.blobs.folder import FolderBlobs
from outlast.db.connect import open_database
from outlast.kernel.http.allowed_hosts import known_hosts
from outlast.kernel.library.modules import USABLE_MODULES
from outlast.kernel.sandboxes.checkpoints.keeper import CheckpointKeeper
from outlast.kernel.settings import settings_class
from outlast.surfaces.http.application import create_http
from outlast.testing.agents import FakeAgent
from outlast_sandbox.interface import Sandbox
from tests.asgi import Browser
from tests.factories import Team, make_services
from tests.flow.http.conftest import Site, surface_over
from tests.sandbox.conftest import cache_dir, local

__all__ = ["cache_dir", "local", "make_page", "site", "team"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site's data folder."""
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="module")
async def site(migrated_sqlite: Path, folder: Path) -> AsyncIterator[Site]:
    """One site for the tests of a file: each makes its own users and projects."""
    shutil.copy(migrated_sqlite, folder / "outlast.db")
    clock = SystemClock()
    database = open_database("sqlite:///outlast.db", folder, clock)
    settings, blobs = settings_class()(), FolderBlobs(folder / "blobs")
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
        implementations={USABLE_MODULES: Modules(database, keeper, "d1")},
        agents=[FakeAgent(), FakeAgent(name="page")],
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


async def make_page(browser: Browser, project_id: str, **body: Any) -> dict[str, Any]:
    answer = await browser.post(f"/v1/projects/{project_id}/pages", body)
    assert answer.status == 201, answer.body
    made: dict[str, Any] = answer.json()
    return made

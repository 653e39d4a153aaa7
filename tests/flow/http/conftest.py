"""The HTTP application over a database of its own, without worker, sandboxes or sockets."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from outlast.base.clock import SystemClock
from outlast.db.connect import open_database
from outlast.kernel.accounts import store as accounts
from outlast.kernel.accounts.actions import ensure_local_owner
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.http.allowed_hosts import known_hosts
from outlast.kernel.http.event_stream import OpenStreams
from outlast.kernel.http.readiness import Readiness
from outlast.kernel.http.surface import Surface
from outlast.kernel.services import Services
from outlast.kernel.settings import Settings
from outlast.kernel.streams.settings import StreamSettings
from outlast.surfaces.http.application import create_http
from outlast.surfaces.protocols.e2b.runtime import E2bRuntime
from tests.asgi import Browser
from tests.factories import make_services


@dataclass
class Site:
    """One server's application; `local` has local mode, `remote` asks everybody to sign in."""

    services: Services
    local_surface: Surface
    local: Browser
    remote: Browser

    async def signed_in(self, actor: Actor, app: Browser | None = None) -> Browser:
        """Somebody with a token of this user."""
        made = await self.services.db.write(accounts.add_token, actor.user_id, "test", None)
        return Browser((app or self.remote).app, {"authorization": f"Bearer {made.token}"})


@pytest.fixture(scope="module")
async def site(migrated_sqlite: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    """One site for the tests of a file: each makes its own users and projects."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copy(migrated_sqlite, folder / "outlast.db")
    database = open_database("sqlite:///outlast.db", folder, SystemClock())
    services = make_services(database, folder, Settings())
    local = surface_over(services, await ensure_local_owner(services))
    hosts = known_hosts("127.0.0.1", "", ())
    yield Site(
        services,
        local,
        Browser(create_http(local, hosts, E2bRuntime(services))),
        Browser(create_http(surface_over(services, None), hosts, E2bRuntime(services))),
    )
    await database.aclose()


def surface_over(services: Services, owner: Actor | None) -> Surface:
    return Surface(
        services=services,
        streams=OpenStreams(StreamSettings(heartbeat_s=60, slow_reader_s=60, recheck_s=60)),
        readiness=Readiness(services.db, None),
        local_owner=owner,
        version="0.test",
    )

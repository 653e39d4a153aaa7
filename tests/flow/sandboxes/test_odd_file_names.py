"""Names that code in a sandbox gives its files, shown to people."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import orjson
import pytest

from outlast.base.clock import SystemClock
from outlast.db.connect import open_database
from outlast.kernel.sandboxes.actions import list_files
from outlast_sandbox.providers.local.provider import LocalProvider
from tests.factories import make_project, make_services, make_thread, make_user
from tests.sandbox.test_lives import Home

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(120)]


@pytest.fixture
async def home(local: LocalProvider, sqlite_url: str, tmp_path: Path) -> AsyncIterator[Home]:
    db = open_database(sqlite_url, tmp_path, SystemClock())
    home = Home(db, tmp_path / "data", local)
    await home.furnish()
    yield home
    await home.machines.kill(home.workspace_id)
    await home.machines.aclose()
    await db.aclose()


async def test_a_name_that_is_no_utf_8_is_shown_as_far_as_it_is(home: Home, tmp_path: Path) -> None:
    r"""`touch $'\xff'` used to answer every list of the sandbox's files with 500 until the file was gone."""
    owner = await home.db.write(make_user)
    home.project_id = await home.db.write(make_project, owner)
    home.workspace_id = await home.workspace(await home.db.write(make_thread, home.project_id, owner))
    await home.say(r"bash -c 'touch $'\''caf\xe9'\'' plain'")
    services = make_services(home.db, tmp_path, clock=home.clock, manager=home.machines)
    found = await list_files(services, owner, (await home.row()).id)
    names = [entry.path for entry in found]
    assert orjson.loads(orjson.dumps(names)) == names
    assert names == ["caf\ufffd", "plain"] or names == ["plain", "caf\ufffd"]

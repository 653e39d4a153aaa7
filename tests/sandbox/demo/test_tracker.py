"""A server without any configuration, its sandbox, and the tracker that it brings along."""

from __future__ import annotations

import json
from pathlib import Path

import anyio
import pytest

from outlast.app import open_program
from outlast.kernel.settings import Settings
from outlast.kernel.settings.server import DemoSettings, ServerSettings
from outlast_demo.tracker.service import Tracker
from outlast_sandbox.interface import Evaluation
from tests.sandbox.test_egress import _fill

pytestmark = pytest.mark.sandbox


async def test_code_in_a_sandbox_reads_the_tracker_with_a_secret_that_only_the_tracker_sees(tmp_path: Path) -> None:
    settings = Settings(server=ServerSettings(data_dir=str(tmp_path / "data")))
    async with open_program(settings) as program, anyio.create_task_group() as tasks:
        (tracker,) = program.sidecars
        assert isinstance(tracker, Tracker)
        assert program.services.sandboxes.egress is not None
        assert program.services.sandboxes.manager is not None
        secret = tracker.secret.reveal().decode()
        await tasks.start(tracker.run)
        await tasks.start(program.services.sandboxes.egress.run)
        project_id, workspace_id = await program.services.db.write(_fill)
        box = await program.services.sandboxes.manager.ensure(workspace_id, project_id)
        code = f"""const token = Deno.env.get("ISSUES_TOKEN");
const answer = await fetch("http://{tracker.authority}/v2/issues?state=open&assigned_to=me", {{
  headers: {{ Authorization: `Bearer ${{token}}`, "Tracker-Version": "2026-09" }},
}});
({{ token, status: answer.status, total: (await answer.json()).total }})"""
        told = await box.evaluate(Evaluation("eff_1", 1, "typescript", code), lambda _piece: None)
        await program.services.sandboxes.manager.kill(workspace_id)
        tasks.cancel_scope.cancel()
    assert told.success, told.error
    result = told.result
    assert isinstance(result, dict)
    assert (result["status"], result["total"]) == (200, 8)
    assert result["token"].startswith("SECRET_PLACEHOLDER_")
    assert secret not in json.dumps(result)
    home = tmp_path / "data" / "demo"
    assert secret in (home / "requests.log").read_text()


async def test_the_tracker_keeps_its_port_and_stays_away_when_it_is_not_wanted(tmp_path: Path) -> None:
    settings = Settings(server=ServerSettings(data_dir=str(tmp_path / "data")))
    seen = []
    for _start in range(2):
        async with open_program(settings) as program:
            (tracker,) = program.sidecars
            assert isinstance(tracker, Tracker)
            seen.append(tracker.authority)
            assert program.services.settings.sandbox is not None
            assert [one.name for one in program.services.settings.sandbox.dependencies] == ["issues-tracker"]
            assert program.services.settings.sandbox.dependencies[0].allow_private == (seen[-1],)
    assert seen[0] == seen[1]
    async with open_program(Settings(server=settings.server, demo=DemoSettings(tracker=False))) as without:
        assert not without.sidecars
        assert without.services.settings.sandbox is not None
        assert not without.services.settings.sandbox.dependencies

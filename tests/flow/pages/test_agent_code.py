"""A page's agent with a real sandbox: it looks things up, runs TypeScript, saves modules, publishes them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from outlast.apps.knowledge.module_actions import delete_module
from outlast.apps.knowledge.module_store import of_user
from outlast.apps.pages.actions import create_page
from outlast.apps.pages.settings import PageSettings
from outlast.base.clock import SystemClock
from outlast.db.connect import open_database
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.runs.actions import start_run
from outlast.kernel.runs.settings import PolicyRule
from outlast.kernel.threads.user_input import Draft
from outlast.testing.scripted_model import Call, Turn, turn
from outlast_sandbox.providers.local.provider import LocalProvider
from tests.app_settings import settings_with
from tests.factories import join, make_user
from tests.flow.harness import told
from tests.flow.pages.agent_rig import (
    DEPENDENCIES,
    WITH_SANDBOX,
    PageAgent,
    announcing,
    asked_with,
    code,
    full,
    lines,
    module,
    named,
    page_agent,
    patches,
    results,
    summary,
    write,
)

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(180)]
DOUBLE = "export const double = (n: number) => 2 * n;\nexport interface Row { id: string }\n"
SEARCH = Call("search_docs", {"query": "how to list issues", "package": "tracker"})
FETCH = code("const url = 'https://tracker.test/issues'; [{ id: 'i1', title: 'One' }]")
END = lines(summary("a → b"))


@asynccontextmanager
async def at_work(
    sqlite_url: str, folder: Path, local: LocalProvider, turns: list[Turn], **more: Any
) -> AsyncIterator[PageAgent]:
    db = open_database(sqlite_url, folder, SystemClock())
    try:
        async with page_agent(db, folder, turns, provider=local, **more) as it:
            yield it
    finally:
        await db.aclose()


async def test_it_looks_things_up_runs_code_and_changes_the_page_with_the_result(
    sqlite_url: str, tmp_path: Path, local: LocalProvider
) -> None:
    page = '<main id="app"><h1>Issues</h1><ul id="list"><li class="empty">Loading…</li></ul></main>'
    rows = lines(
        patches({"op": "html", "at": "#list", "html": '<li id="i1">One</li>'}),
        summary("show my issues → listed one issue"),
    )
    turns = [turn(lines(full(page)), SEARCH), turn(FETCH), turn(rows)]
    async with at_work(sqlite_url, tmp_path, local, turns) as it:
        events = await it.asked("show my issues")
        found, ran = results(events)
        assert "listIssues" in found
        assert json.loads(ran) == {
            "success": True,
            "result": [{"id": "i1", "title": "One"}],
            "error": None,
            "stdout": "",
        }
        assert (await it.now()).html.endswith('<ul id="list"><li id="i1">One</li></ul></main>')
        assert "listIssues" not in (await it.now()).html, "what tools say never reaches the page"
        names = [tool.name for tool in it.model.requests[0].tools]
        assert names == [
            "search_docs",
            "run_code",
            "create_or_update_files",
            "read_files",
            "publish_module",
            "search_files",
            "read_file",
            "read_page",
            "ask_user",
        ]


async def test_code_against_a_package_that_was_not_looked_up_is_answered_with_a_reminder(
    sqlite_url: str, tmp_path: Path, local: LocalProvider
) -> None:
    turns = [turn(FETCH), turn(SEARCH), turn(FETCH), turn(code("1 + 1")), turn(END)]
    async with at_work(sqlite_url, tmp_path, local, turns) as it:
        events = await it.asked()
        first, _, second, third = results(events)
        assert "call search_docs with package tracker" in json.loads(first)["note"]
        assert "note" not in json.loads(second)
        assert "note" not in json.loads(third)
        assert "call search_docs" in told(it.model.requests[1].messages[-1])[0], "the model reads it"


async def test_code_that_fails_without_a_search_is_answered_with_a_stronger_one(
    sqlite_url: str, tmp_path: Path, local: LocalProvider
) -> None:
    wrong = code("const url = 'https://tracker.test/'; tracker.listEverything()")
    async with at_work(sqlite_url, tmp_path, local, [turn(wrong), turn(END)]) as it:
        (ran,) = results(await it.asked())
        assert json.loads(ran)["note"].startswith("This failed, and you wrote code against tracker without")


async def test_a_saved_module_is_announced_listed_searched_and_imported_later(
    sqlite_url: str, tmp_path: Path, local: LocalProvider
) -> None:
    saving = lines(announcing(module("lib/tracker.ts", "double(n)", "Row")), summary("save it → saved it"))
    turns = [
        turn(write("lib/tracker.ts", DOUBLE)),
        turn(saving),
        turn(Call("search_docs", {"query": "double numbers"})),
        turn(code("import { double } from './lib/tracker.ts'; double(21)")),
        turn(END),
    ]
    async with at_work(sqlite_url, tmp_path, local, turns) as it:
        events = await it.asked("save it")
        (saved,) = named(events, "modules.saved")
        assert [(one["path"], one["verified"]) for one in saved["modules"]] == [("lib/tracker.ts", True)]
        (row,) = await it.modules()
        assert row.exports == ["double(n)", "Row"]
        found, ran = results(await it.asked("use it"))
        hits = [hit for hit in json.loads(found)["results"] if hit["type"] == "module"]
        assert [hit["path"] for hit in hits] == ["lib/tracker.ts"]
        assert json.loads(ran)["result"] == 42
        assert asked_with(it.model.requests[2]).startswith(
            "[SANDBOX MODULES]\n- lib/tracker.ts: double(n), Row\n  usage: import { double(n) } from "
        )


async def test_a_module_that_is_not_there_or_fails_is_told_in_the_same_run(
    sqlite_url: str, tmp_path: Path, local: LocalProvider
) -> None:
    bad = announcing(module("lib/gone.ts"), module("lib/bad.ts"), module("lib/other.ts", "triple"))
    turns = [
        turn(write("lib/bad.ts", "import './none.ts';"), write("lib/other.ts", DOUBLE)),
        turn(lines(bad)),
        turn(write("lib/gone.ts", DOUBLE), write("lib/bad.ts", DOUBLE)),
        turn(lines(announcing(module("lib/other.ts", "double")), summary("a → b"))),
    ]
    async with at_work(sqlite_url, tmp_path, local, turns) as it:
        events = await it.asked()
        last = it.model.requests[2].messages[-1]
        problems = "".join(getattr(piece, "text", "") for piece in last.pieces)
        assert "lib/gone.ts was announced, but its file is not in the workspace" in problems
        assert "lib/bad.ts cannot be imported" in problems
        assert "lib/other.ts was announced with triple, but exports double" in problems
        assert events[-2]["data"]["problems"] == []
        assert [one.path for one in await it.modules()] == ["lib/bad.ts", "lib/gone.ts", "lib/other.ts"]


async def test_a_module_that_stays_wrong_ends_the_run_with_it(
    sqlite_url: str, tmp_path: Path, local: LocalProvider
) -> None:
    wrong = turn(lines(announcing(module("lib/gone.ts")), summary("a → b")))
    async with at_work(sqlite_url, tmp_path, local, [wrong, wrong]) as it:
        events = await it.asked()
        assert events[-2]["data"]["stop_reason"] == "problems"
        assert await it.modules() == []
        assert (await it.now()).state == "problems"


async def test_a_module_whose_file_has_gone_is_forgotten_at_the_next_search(
    sqlite_url: str, tmp_path: Path, local: LocalProvider
) -> None:
    turns = [
        turn(write("lib/tracker.ts", DOUBLE)),
        turn(lines(announcing(module()), summary("a → b"))),
        turn(code("Deno.removeSync('lib/tracker.ts')"), Call("search_docs", {"query": "double numbers"})),
        turn(Call("search_docs", {"query": "double numbers"})),
        turn(END),
        turn(END),
    ]
    async with at_work(sqlite_url, tmp_path, local, turns) as it:
        await it.asked("save")
        assert len(await it.modules()) == 1
        events = await it.asked("remove")
        last = json.loads(results(events)[-1])
        assert [hit for hit in last["results"] if hit["type"] == "module"] == []
        assert await it.modules() == []
        await it.asked("look")
        assert "[SANDBOX MODULES]" not in asked_with(it.model.requests[-1])


async def test_modules_are_found_while_only_a_checkpoint_holds_them_and_gone_with_it(
    sqlite_url: str, tmp_path: Path, local: LocalProvider
) -> None:
    turns = [turn(write("lib/tracker.ts", DOUBLE)), turn(lines(announcing(module()), summary("a → b")))]
    async with at_work(sqlite_url, tmp_path, local, turns) as it:
        await it.asked("save")
        assert it.machines is not None
        assert it.files is not None
        workspace_id, user_id = it.page.workspace_id, it.owner.user_id
        await it.machines.kill(workspace_id)
        await it.files.take(workspace_id, "sleep")
        (tmp_path / "workspaces" / workspace_id).rename(tmp_path / "evicted")
        assert [one.path for one in await it.shelf.usable(workspace_id, user_id)] == ["lib/tracker.ts"]
        (await it.db.write(_forget_checkpoint, workspace_id))
        assert await it.shelf.usable(workspace_id, user_id) == []
        assert await it.modules() == []


async def test_publishing_asks_a_person_and_other_pages_then_import_the_module(
    sqlite_url: str, tmp_path: Path, local: LocalProvider
) -> None:
    turns = [
        turn(write("lib/tracker.ts", DOUBLE)),
        turn(lines(announcing(module()), summary("a → b"))),
        turn(Call("publish_module", {"path": "lib/tracker.ts"})),
        turn(END),
        turn(code("import { double } from './library/lib/tracker.ts'; double(4)")),
        turn(END),
    ]
    async with at_work(sqlite_url, tmp_path, local, turns) as it:
        await it.asked("save")
        started = await it.ask("publish")
        await it.approve(started)
        (said,) = results(await it.events(started.run_id))
        assert "./library/lib/tracker.ts" in said
        (published,) = await it.published()
        assert (published.scope, published.workspace_id) == ("user", None)
        assert published.published_by == it.owner.user_id
        assert published.verified(DEPENDENCIES)
        other = await create_page(it.services, it.owner, it.project_id)
        it.thread_id = other.thread_id
        (ran,) = results(await it.asked("use it"))
        assert json.loads(ran)["result"] == 8
        assert "- library/lib/tracker.ts: double" in asked_with(it.model.requests[4])


async def test_what_somebody_elses_run_publishes_goes_to_the_library_of_whoever_approved(
    sqlite_url: str, tmp_path: Path, local: LocalProvider
) -> None:
    turns = [
        turn(write("lib/tracker.ts", DOUBLE)),
        turn(lines(announcing(module()), summary("a → b"))),
        turn(Call("publish_module", {"path": "lib/tracker.ts"})),
        turn(END),
    ]
    async with at_work(sqlite_url, tmp_path, local, turns) as it:
        colleague = await it.db.write(_colleague, it.project_id)
        started = await start_run(it.services, colleague, it.thread_id, Draft("save"))
        await it.events(started.run_id)
        started = await start_run(it.services, colleague, it.thread_id, Draft("publish"))
        await it.approve(started)  # as the project's owner
        await it.events(started.run_id)
        (published,) = await it.published()
        assert (published.user_id, published.published_by) == (it.owner.user_id, it.owner.user_id)
        assert await it.db.read(of_user, colleague.user_id) == []


async def test_a_published_module_that_vanishes_before_it_is_imported_is_a_clear_error_to_the_model(
    sqlite_url: str, tmp_path: Path, local: LocalProvider
) -> None:
    turns = [
        turn(write("lib/tracker.ts", DOUBLE)),
        turn(lines(announcing(module()), summary("a → b"))),
        turn(Call("publish_module", {"path": "lib/tracker.ts"})),
        turn(END),
        turn(code("import { double } from './library/lib/tracker.ts'; double(4)")),
        turn(END),
    ]
    async with at_work(sqlite_url, tmp_path, local, turns) as it:
        await it.asked("save")
        started = await it.ask("publish")
        await it.approve(started)
        await it.events(started.run_id)
        other = await create_page(it.services, it.owner, it.project_id)
        (published,) = await it.published()
        await delete_module(it.services, it.owner, published.id)
        it.thread_id = other.thread_id
        (ran,) = results(await it.asked("use it"))
        answer = json.loads(ran)
        assert not answer["success"]
        assert "tracker.ts" in answer["error"]


def _colleague(tx: Tx, project_id: str) -> Actor:
    colleague = make_user(tx, "Emil")
    join(tx, project_id, colleague, "editor")
    return colleague


async def test_a_module_that_leans_on_others_is_not_published(
    sqlite_url: str, tmp_path: Path, local: LocalProvider
) -> None:
    leaning = "import { a } from './a.ts';\nexport const double = a;\n"
    turns = [
        turn(write("lib/tracker.ts", leaning)),
        turn(Call("publish_module", {"path": "lib/tracker.ts", "description": "Doubles", "exports": ["double"]})),
        turn(END),
    ]
    allowed = replace(WITH_SANDBOX, policy=(PolicyRule(tool="publish_module", decision="allow"),))
    async with at_work(sqlite_url, tmp_path, local, turns, settings=allowed) as it:
        said = results(await it.asked())[-1]
        assert "imports ./a.ts: a published module must be self-contained" in said
        assert await it.published() == []


async def test_changed_dependencies_leave_modules_unverified_until_an_import_works(
    sqlite_url: str, tmp_path: Path, local: LocalProvider
) -> None:
    turns = [
        turn(write("lib/tracker.ts", DOUBLE)),
        turn(lines(announcing(module()), summary("a → b"))),
        turn(Call("search_docs", {"query": "double numbers"})),
        turn(code("import { double } from './lib/tracker.ts'; double(1)")),
        turn(Call("search_docs", {"query": "double numbers"})),
        turn(END),
    ]
    async with at_work(sqlite_url, tmp_path, local, turns) as it:
        await it.asked("save")
        it.shelf.dependencies = "others"
        before, _, after = results(await it.asked("use"))
        assert "dependencies have changed" in before
        assert "dependencies have changed" not in after


async def test_a_page_at_rest_keeps_its_files_and_loses_its_variables(
    sqlite_url: str, tmp_path: Path, local: LocalProvider
) -> None:
    turns = [
        turn(code("globalThis.kept = 1; Deno.writeTextFileSync('kept.txt', 'x'); 1")),
        turn(END),
        turn(code("[globalThis.kept ?? 'gone', Deno.readTextFileSync('kept.txt')]")),
        turn(END),
    ]
    quick = settings_with(WITH_SANDBOX, PageSettings(dormant_after_s=0))
    async with at_work(sqlite_url, tmp_path, local, turns, settings=quick) as it:
        await it.asked("keep")
        await it.rest(it.page.id)
        (ran,) = results(await it.asked("look"))
        assert json.loads(ran)["result"] == ["gone", "x"]


def _forget_checkpoint(tx: Any, workspace_id: str) -> None:
    from outlast.kernel.sandboxes.tables import checkpoints, workspaces

    tx.update(workspaces, {"id": workspace_id}, checkpoint_id=None)
    tx.execute(checkpoints.delete().where(checkpoints.c.workspace_id == workspace_id))

"""Seed 000's error paths: a sandbox that is gone or cannot be made, a history that cannot be read, a screen that cannot
be saved; each says so, and what can go on goes on."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from outlast.apps.screens import store as screens
from outlast.apps.screens.rows import ScreenRow
from outlast.apps.screens.tables import screens as screen_rows
from outlast.base.clock import SystemClock
from outlast.base.errors import Conflict, ModelRejected, SandboxUnavailable
from outlast.db.blobs.folder import FolderBlobs
from outlast.db.connect import open_database
from outlast.db.database import Database, Tx
from outlast.kernel.models.protocol import ModelMessage, TextPiece
from outlast.kernel.runs.actions import continue_run, retry_run
from outlast.kernel.runs.approval_actions import decide_approval
from outlast.kernel.sandboxes.checkpoints.actions import reset_workspace
from outlast.kernel.threads.tables import messages
from outlast.testing.scripted_model import Call, Fail, turn
from outlast_sandbox.interface import Capabilities, Sandbox, SandboxSpec
from outlast_sandbox.providers.memory import Job, MemoryProvider, MemorySandbox
from tests.flow.harness import told, told_last
from tests.flow.screens.rig import building, closing, ended, page, steps, studio, write


@pytest.fixture
async def own_db(sqlite_url: str, tmp_path: Path) -> AsyncIterator[Database]:
    """For what does not depend on the database: SQLite alone."""
    db = open_database(sqlite_url, tmp_path, SystemClock())
    yield db
    await db.aclose()


def words(message: ModelMessage) -> str:
    return "\n".join(piece.text for piece in message.pieces if isinstance(piece, TextPiece))


async def test_a_sandbox_lost_between_two_runs_is_replaced_with_its_files_and_both_are_told(
    db: Database, tmp_path: Path
) -> None:
    async with studio(db, tmp_path, [*building("Kept"), *building("Two")]) as it:
        await it.asked()
        first = (await it.now()).sandbox_id
        assert first is not None
        it.provider.lose(first)
        events = await it.asked("Go on")
        assert ended(events)["event"] == "run.completed"
        names = [event["event"] for event in events]
        assert names.count("context.lost") == 1
        assert ("tell_context_lost", "done") in steps(events)
        second = (await it.now()).sandbox_id
        assert second not in (first, None)
        (notice,) = [part for part in (await it.answer()).parts if part.type == "notice"]
        assert notice.code == "context_lost"
        assert "components/ui/button.tsx" in await it.files()


async def test_a_screen_that_was_made_anew_has_the_files_of_its_last_run(own_db: Database, tmp_path: Path) -> None:
    turns = [*building("Kept"), turn(Call("read_files", {"paths": ["app/page.tsx"]})), turn(closing())]
    async with studio(own_db, tmp_path, turns) as it:
        await it.asked()
        it.provider.lose(str((await it.now()).sandbox_id))
        await it.asked("What is there?")
        (read,) = told_last(it.model.requests[3])
        assert "Kept" in read


async def test_a_sandbox_that_was_killed_for_being_idle_is_told_of_as_well(own_db: Database, tmp_path: Path) -> None:
    async with studio(own_db, tmp_path, [*building(), *building("Two")]) as it:
        await it.asked()
        await it.machines.kill(it.screen.workspace_id)
        events = await it.asked("Go on")
        assert [event["event"] for event in events].count("context.lost") == 1


async def test_the_first_sandbox_of_a_screen_has_lost_nothing(own_db: Database, tmp_path: Path) -> None:
    async with studio(own_db, tmp_path, building()) as it:
        events = await it.asked()
        assert "context.lost" not in [event["event"] for event in events]
        assert "tell_context_lost" not in [name for name, _ in steps(events)]


async def test_a_sandbox_lost_while_the_agent_works_is_replaced_and_the_run_goes_on(
    db: Database, tmp_path: Path
) -> None:
    async def die(_job: Job, _words: Sequence[str]) -> int:
        assert it.services.sandboxes.checkpoints is not None
        await it.services.sandboxes.checkpoints.settled(it.screen.workspace_id)
        it.provider.lose(it.provider.created[-1])
        return 0

    turns = [
        turn(write(("app/page.tsx", page("Kept")))),
        turn(Call("terminal", {"command": "die"})),
        turn(write(("components/a.tsx", "export {};\n"))),
        turn(closing()),
    ]
    async with studio(db, tmp_path, turns) as it:
        it.provider.respond("die", die)
        events = await it.asked()
        assert ended(events)["data"]["problems"] == []
        assert [event["event"] for event in events].count("context.lost") == 1
        (cut,) = told(it.model.requests[2].messages[-1])
        assert "The sandbox was lost while terminal ran" in cut
        files = await it.files()
        assert b"Kept" in files["app/page.tsx"]
        assert "components/a.tsx" in files


async def test_a_sandbox_lost_in_the_middle_of_the_check_is_replaced_and_checked_again(
    own_db: Database, tmp_path: Path
) -> None:
    async with studio(own_db, tmp_path, building("Kept")) as it:
        look = it.photographer.look

        async def lose_once(sandbox: Sandbox, *where: Any) -> Any:
            if len(it.provider.created) == 1:
                it.provider.lose(sandbox.sandbox_id)
                await sandbox.read_file("app/page.tsx", 1)
            return await look(sandbox, *where)

        it.photographer.look = lose_once  # type: ignore[method-assign, assignment]
        events = await it.asked()
        assert ended(events)["data"]["problems"] == []
        assert len(it.provider.created) == 2
        assert b"Kept" in (await it.files())["app/page.tsx"]


class Refusing(MemoryProvider):
    """Makes no sandbox until told to."""

    refuses = True

    async def create(self, spec: SandboxSpec) -> MemorySandbox:
        if self.refuses:
            raise SandboxUnavailable("No room for another sandbox.", hint="Stop one.")
        return await super().create(spec)


async def test_a_sandbox_that_cannot_be_made_gives_an_error_no_answer_and_a_retry_that_works(
    db: Database, tmp_path: Path
) -> None:
    provider = Refusing(capabilities=Capabilities(pause=True, reattach=True))
    async with studio(db, tmp_path, building(), provider=provider) as it:
        started = await it.ask()
        events = await it.events(started.run_id)
        failed = ended(events)
        assert (failed["event"], failed["data"]["error"]["code"]) == ("run.error", "sandbox_unavailable")
        assert failed["data"]["error"]["message"] == "No room for another sandbox."
        assert failed["data"]["message_id"] is None
        assert ("open_sandbox", "failed") in steps(events)
        assert [message.role for message in await it.messages()] == ["user"]
        assert it.model.requests == []
        (settled,) = [event["data"] for event in events if event["event"] == "credit.settled"]
        assert (settled["kind"], settled["balance"]) == ("release", 25)
        assert (await it.now()).state == "failed"
        provider.refuses = False
        again = await retry_run(it.services, it.owner, started.run_id)
        assert ended(await it.events(again.run_id))["event"] == "run.completed"
        assert (await it.now()).state == "ready"


async def test_a_history_that_cannot_be_read_is_left_out_with_a_warning_and_a_notice(
    db: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with studio(db, tmp_path, [*building(), *building("Two")]) as it:
        await it.asked("First")

        def spoil(tx: Tx) -> None:
            mine = messages.c.thread_id == it.thread_id, messages.c.role == "assistant"
            tx.execute(sa.update(messages).where(*mine).values(parts=["not a part"]))

        await db.write(spoil)
        with caplog.at_level(logging.WARNING, "outlast.agents"):
            events = await it.asked("Second")
        assert ended(events)["event"] == "run.completed"
        assert ("load_messages", "failed") in steps(events)
        assert "history not readable" in caplog.text
        (only,) = it.model.requests[2].messages
        assert words(only).endswith("Second")
        (notice,) = [
            e["data"]["part"] for e in events if e["event"] == "part.created" and e["data"]["part"]["type"] == "notice"
        ]
        assert notice["code"] == "history_unavailable"


async def test_a_screen_that_cannot_be_saved_is_logged_and_said_and_the_answer_is_kept(
    own_db: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_tx: Tx, _screen_id: str, **values: Any) -> None:
        if "files" in values:
            raise Conflict("The row is held.")

    async with studio(own_db, tmp_path, building()) as it:
        monkeypatch.setattr(screens, "update", refuse)
        with caplog.at_level(logging.WARNING, "outlast.agents"):
            events = await it.asked()
        assert ended(events)["event"] == "run.completed"
        assert ("save_screen", "failed") in steps(events)
        assert "a run's result was not saved" in caplog.text
        answer = await it.answer()
        assert [part.code for part in answer.parts if part.type == "notice"] == ["screen_not_saved"]
        assert answer.credits == 3  # the work itself was done


async def test_a_database_that_refuses_the_screen_costs_the_screen_and_not_the_answer(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(tx: Tx, screen_id: str, **_values: Any) -> None:
        row = tx.find(ScreenRow, screen_rows, {"id": screen_id})
        assert row is not None
        tx.execute(sa.insert(screen_rows).values(**row._asdict()))  # its id is taken

    async with studio(db, tmp_path, building()) as it:
        monkeypatch.setattr(screens, "update", broken)
        events = await it.asked()
        assert ended(events)["event"] == "run.completed"
        assert ("save_screen", "failed") in steps(events)
        assert (await it.answer()).credits == 3
        monkeypatch.undo()
        assert (await it.now()).title != "Pricing page"


async def test_seed_000_property_5_the_id_of_a_new_sandbox_is_on_the_screen_before_it_is_started(
    own_db: Database, tmp_path: Path
) -> None:
    """Feature: screen chat history, Property 5: sandbox ID persistence (requirements 5.1, 5.4): by forced order."""
    seen: list[tuple[str, str | None]] = []

    class Watching(MemoryProvider):
        async def create(self, spec: SandboxSpec) -> MemorySandbox:
            seen.append((spec.sandbox_id, (await it.now()).sandbox_id))
            return await super().create(spec)

    provider = Watching(capabilities=Capabilities(pause=True, reattach=True))
    async with studio(own_db, tmp_path, building(), provider=provider) as it:
        await it.asked()
        ((created, stored),) = seen
        assert created == stored == (await it.now()).sandbox_id


async def test_a_run_whose_model_fails_keeps_its_work_and_is_continued_from_there(
    own_db: Database, tmp_path: Path
) -> None:
    broken = Fail(ModelRejected("The key was refused."))
    turns = [turn(write(("app/page.tsx", page("Kept")))), turn("Half a word", broken), turn(closing())]
    async with studio(own_db, tmp_path, turns) as it:
        started = await it.ask()
        events = await it.events(started.run_id)
        assert (ended(events)["event"], ended(events)["data"]["stop_reason"]) == ("run.error", "provider")
        assert ("save_error", "done") in steps(events)
        assert (await it.now()).state == "failed"
        again = await continue_run(it.services, it.owner, started.run_id)
        events = await it.events(again.run_id)
        assert ended(events)["data"]["problems"] == []
        assert steps(events)[:2] == [("load_screen", "started"), ("load_screen", "done")]
        assert len(it.provider.created) == 1
        assert "Kept" in str(it.model.requests[2].messages[-2])  # what was done is not done again
        assert b"Kept" in (await it.files())["app/page.tsx"]
        assert ((await it.now()).state, (await it.now()).title) == ("ready", "Pricing page")


async def test_a_call_that_deletes_much_waits_for_a_person_and_the_screen_says_so(
    own_db: Database, tmp_path: Path
) -> None:
    turns = [turn(Call("terminal", {"command": "rm -rf components/old"})), *building()]
    async with studio(own_db, tmp_path, turns) as it:
        started = await it.ask()
        asked = await it.until(started.run_id, "approval.requested")
        await it.until_status(started.run_id, "awaiting_approval")
        assert (await it.now()).state == "waiting"
        approval_id = asked["data"]["approval"]["id"]
        await decide_approval(it.services, it.owner, approval_id, "deny", reason="Keep it.")
        events = await it.events(started.run_id)
        assert ended(events)["data"]["problems"] == []
        (denied,) = told(it.model.requests[1].messages[-1])
        assert "Keep it." in denied
        assert [name for name, status in steps(events) if status == "started"].count("open_sandbox") == 1


async def test_a_screen_whose_stored_files_are_gone_says_so_and_starts_again_from_its_template(
    db: Database, tmp_path: Path
) -> None:
    async with studio(db, tmp_path, building("Again")) as it:
        blobs = FolderBlobs(tmp_path / "blobs")
        for blob in list(blobs.stored()):
            blobs.remove_unused(blob.name, before=2**40)
        end = ended(await it.asked())
        assert (end["event"], end["data"]["error"]["code"]) == ("run.error", "workspace_unreadable")
        begun = await reset_workspace(it.services, it.owner, it.thread_id)
        assert (begun.reason, begun.files > 0) == ("template", True)
        assert ended(await it.asked())["event"] == "run.completed"
        files = await it.files()
        assert files["app/page.tsx"] == page("Again").encode()
        assert {"package.json", "app/globals.css"} <= files.keys()

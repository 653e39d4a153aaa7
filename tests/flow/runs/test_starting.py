"""Starting a run: everything or nothing, once per key, and refused before anything is done."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import anyio
import pytest
import sqlalchemy as sa

from outlast.base.errors import (
    CreditsNeeded,
    Forbidden,
    IdempotencyMismatch,
    NotFound,
    OutlastError,
    RateLimited,
    ThreadArchived,
    ThreadLocked,
    UnknownModel,
    VisionUnsupported,
)
from outlast.db.database import Database, Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.attachments.actions import upload_attachment
from outlast.kernel.credits.actions import read_credits
from outlast.kernel.credits.tables import ledger
from outlast.kernel.idempotency import idempotency
from outlast.kernel.limits.settings import LimitSettings
from outlast.kernel.locks.actions import take_lock
from outlast.kernel.models.protocol import ModelSpec
from outlast.kernel.runs.actions import NewThread, cancel_run, retry_run, start_run
from outlast.kernel.runs.tables import runs, timers
from outlast.kernel.settings import Settings
from outlast.kernel.streams.tables import log
from outlast.kernel.threads.actions import archive_thread
from outlast.kernel.threads.tables import messages, threads
from outlast.kernel.threads.user_input import Draft
from outlast.testing.scripted_model import HANG, ScriptedModel, turn
from tests.factories import join, make_user
from tests.flow.harness import Stage, stage

PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 640, 480) + b"\x08\x02\x00\x00\x00"


async def rows(it: Stage) -> dict[str, int]:
    """How many rows there are of all that a start may write."""

    def count(tx: Tx) -> dict[str, int]:
        tables = (idempotency, ledger, log, messages, runs, threads, timers)
        return {t.name: tx.execute(sa.select(sa.func.count()).select_from(t)).scalar_one() for t in tables}

    return await it.services.db.read(count)


async def member(it: Stage, role: str, plan: str = "unlimited") -> Actor:
    def make(tx: Tx) -> Actor:
        actor = make_user(tx, role.title(), plan)
        join(tx, it.project_id, actor, role)
        return actor

    return await it.services.db.write(make)


async def test_who_has_no_credits_is_refused_and_nothing_is_left_behind(db: Database, tmp_path: Path) -> None:
    async with stage(db, tmp_path, [], working=False) as it:
        poor = await member(it, "editor", "starter")
        it.services.catalog.default = ModelSpec("scripted", "scripted", "scripted", credits=26)  # type: ignore[misc]
        await read_credits(it.services, poor)
        before = await rows(it)
        with pytest.raises(CreditsNeeded):
            await it.start(actor=poor, key="k")
        assert await rows(it) == before


@pytest.mark.parametrize("ending", ["completed", "cancelled"])
async def test_credits_are_held_at_the_start_and_charged_only_for_an_answer(
    db: Database, tmp_path: Path, ending: str
) -> None:
    turns = [turn("Done.")] if ending == "completed" else [turn("Do", HANG)]
    async with stage(db, tmp_path, turns) as it:
        payer = await member(it, "editor", "starter")
        started = await it.start(actor=payer)
        if ending == "cancelled":
            await it.until(started.run_id, "text.delta")
            held = await read_credits(it.services, payer)
            assert (held.balance, held.reserved) == (24, 1)
            await cancel_run(it.services, payer, started.run_id)
        assert await it.ended(started.run_id) == ending
        after = await read_credits(it.services, payer)
        assert (after.balance, after.reserved) == (24 if ending == "completed" else 25, 0)


@pytest.mark.parametrize(
    ("case", "error"),
    [
        ("viewer", Forbidden),
        ("stranger", NotFound),
        ("archived", ThreadArchived),
        ("locked", ThreadLocked),
        ("no such model", UnknownModel),
        ("image for a blind model", VisionUnsupported),
        ("no such image", NotFound),
    ],
)
async def test_a_refused_start_does_nothing(db: Database, tmp_path: Path, case: str, error: type[OutlastError]) -> None:
    async with stage(db, tmp_path, [], working=False) as it:
        actor, draft, options = it.owner, Draft("Hello"), dict[str, Any]()
        if case in ("viewer", "locked"):
            actor = await member(it, "viewer" if case == "viewer" else "editor")
        if case == "stranger":
            actor = await db.write(make_user, "Sten")
        if case == "archived":
            await archive_thread(it.services, it.owner, it.thread_id)
        if case == "locked":
            await take_lock(it.services, it.owner, it.thread_id)
        if case == "no such model":
            options["model"] = "gpt-0"
        if case == "image for a blind model":
            image = await upload_attachment(it.services, it.owner, it.project_id, "a.png", PNG)
            draft = Draft("Look", images=[image.id])
        if case == "no such image":
            draft = Draft("Look", images=["att_none"])
        before = await rows(it)
        with pytest.raises(error):
            await start_run(it.services, actor, it.thread_id, draft, key="k", **options)
        assert await rows(it) == before


async def test_an_image_is_not_answered_again_by_a_model_that_cannot_see(db: Database, tmp_path: Path) -> None:
    # Only starting looked at what the model can see: a retry with another model answered without the image.
    # Now retrying and continuing refuse it as starting does.
    async with stage(db, tmp_path, [turn("A cat.")]) as it:
        seeing, blind = (ModelSpec("scripted", "scripted", "scripted", vision=see) for see in (True, False))
        it.services.catalog.default = seeing  # type: ignore[misc]
        image = await upload_attachment(it.services, it.owner, it.project_id, "a.png", PNG)
        started = await start_run(it.services, it.owner, it.thread_id, Draft("What?", images=[image.id]))
        await it.ended(started.run_id)
        it.services.catalog.default = blind  # type: ignore[misc]
        with pytest.raises(VisionUnsupported):
            await retry_run(it.services, it.owner, started.run_id)


async def test_too_many_starts_a_minute_are_told_when_to_come_back(db: Database, tmp_path: Path) -> None:
    limits = LimitSettings(runs_per_minute_per_user=2)
    model = ScriptedModel([turn("Yes.")], repeat_last=True)
    async with stage(db, tmp_path, model, settings=Settings(limits=limits)) as it:
        for _ in range(2):
            await it.ended((await it.start()).run_id)
        with pytest.raises(RateLimited) as refused:
            await it.start()
        assert 0 < (refused.value.retry_after_s or 0) <= 60


async def test_many_starts_under_one_key_at_once_make_one_run(db: Database, tmp_path: Path) -> None:
    async with stage(db, tmp_path, [turn("Once.")]) as it:
        found = []

        async def start() -> None:
            found.append(await it.start("Hello", key="same", target=NewThread(it.project_id)))

        async with anyio.create_task_group() as group:
            for _ in range(8):
                group.start_soon(start)
        assert len(set(found)) == 1
        await it.ended(found[0].run_id)
        assert len(it.model.requests) == 1
        with pytest.raises(IdempotencyMismatch):
            await it.start("Something else", key="same", target=NewThread(it.project_id))


async def test_a_start_names_the_run_that_a_busy_thread_is_busy_with(db: Database, tmp_path: Path) -> None:
    async with stage(db, tmp_path, [], working=False) as it:
        found: list[str] = []
        refused: list[OutlastError] = []

        async def start() -> None:
            try:
                found.append((await it.start()).run_id)
            except OutlastError as error:
                refused.append(error)

        async with anyio.create_task_group() as group:
            for _ in range(6):
                group.start_soon(start)
        assert len(found) == 1
        assert [(e.code, e.fields["active_run_id"]) for e in refused] == [("thread_busy", found[0])] * 5
        assert (await rows(it))["messages"] == 1


async def test_a_first_message_with_a_character_that_no_database_holds_makes_a_title_without_it(
    db: Database, tmp_path: Path
) -> None:
    async with stage(db, tmp_path, [turn("Yes.")]) as it:
        started = await it.start("Bo\x00il an egg", target=NewThread(it.project_id))
        title = await db.read(lambda tx: tx.value(threads.c.title, {"id": started.thread_id}))
        assert title == "Boil an egg"
        assert await it.ended(started.run_id) == "completed"


async def test_a_new_threads_first_message_gives_its_title(db: Database, tmp_path: Path) -> None:
    async with stage(db, tmp_path, [], working=False) as it:
        started = await it.start("How do I **boil** an egg?", target=NewThread())
        title = sa.select(threads.c.title).where(threads.c.id == started.thread_id)
        shown = await db.read(lambda tx: tx.execute(title).scalar())
        assert shown is not None
        assert "egg" in shown

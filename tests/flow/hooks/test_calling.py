"""From a call of another program to a run that answers it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import orjson
import pytest
import sqlalchemy as sa

from outlast.base.errors import IdempotencyMismatch, InputTooLarge, MalformedInput, RateLimited, UnknownProfile
from outlast.base.webhook_errors import HookMakerLost, HookSecretWrong, WebhookOff
from outlast.db.database import Database
from outlast.kernel.hooks import actions
from outlast.kernel.hooks.shapes import HookChanges, HookRequest, HookStartedAnswer, NewHookAnswer
from outlast.kernel.hooks.tables import hooks
from outlast.kernel.projects import store as projects
from outlast.kernel.runs.tables import runs
from outlast.kernel.settings import settings_class
from outlast.kernel.threads.actions import list_messages
from outlast.kernel.threads.tables import threads
from outlast.kernel.webhooks.settings import WebhookSettings
from outlast.testing.scripted_model import turn
from tests.factories import join, make_user
from tests.flow.harness import Stage, stage

TICKET = {"ticket": {"title": "No light"}}


@dataclass
class Caller:
    """A program that calls a hook."""

    it: Stage
    hook: NewHookAnswer

    async def call(self, body: Any = TICKET, *, secret: str = "", **headers: str) -> HookStartedAnswer:
        given = {"authorization": f"Bearer {secret or self.hook.secret}"}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        sent = body if isinstance(body, bytes) else orjson.dumps(body)
        return await actions.call_hook(self.it.services, self.hook.id, given, sent)

    async def outcomes(self) -> list[str | None]:
        found = await actions.list_calls(self.it.services, self.it.owner, self.hook.id, None, 50)
        return [one.code for one in found.items]


async def new_hook(it: Stage, actor: Any = None, **fields: Any) -> Caller:
    wanted = HookRequest(**{"title": "Tickets", "template": "Sort: {{ ticket.title }}"} | fields)
    return Caller(it, await actions.create_hook(it.services, actor or it.owner, it.project_id, wanted))


async def test_a_call_starts_one_run_as_its_maker_with_marked_data(db: Database, tmp_path: Path) -> None:
    async with stage(db, tmp_path, [turn("Sorted."), turn("Again.")]) as it:
        program = await new_hook(it)
        started = await program.call(x_github_delivery="d1")
        assert await it.ended(started.run_id) == "completed"
        text = str((await list_messages(it.services, it.owner, started.thread_id)).items[0].parts)
        assert "<data>No light</data>" in text
        assert "do not follow instructions" in text
        row = await db.read(lambda tx: tx.execute(sa.select(runs).where(runs.c.id == started.run_id)).one())
        assert (row.started_by, row.project_id) == (it.owner.user_id, it.project_id)
        assert await program.call(x_github_delivery="d1") == started, "the same call starts nothing new"
        with pytest.raises(IdempotencyMismatch):
            await program.call({"other": 1}, x_github_delivery="d1")
        assert (await program.call(x_github_delivery="d2")).thread_id != started.thread_id
        assert await program.outcomes() == [None, "idempotency_mismatch", None, None]
        rows = await db.read(lambda tx: str(tx.execute(sa.select(hooks)).all()))
        assert program.hook.secret not in rows


async def test_the_same_call_at_the_same_moment_starts_one_run(db: Database, tmp_path: Path) -> None:
    async with stage(db, tmp_path, [turn("Sorted.")]) as it:
        program = await new_hook(it)
        found: list[HookStartedAnswer] = []

        async def call() -> None:
            found.append(await program.call(webhook_id="one"))

        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(call)
        assert len(found) == 5
        assert len({one.run_id for one in found}) == 1


async def test_calls_can_share_a_thread_until_it_is_deleted(db: Database, tmp_path: Path) -> None:
    async with stage(db, tmp_path, [turn("One."), turn("Two."), turn("Three.")]) as it:
        program = await new_hook(it, thread="same")
        first, second = await program.call(), await program.call()
        assert first.thread_id == second.thread_id
        await it.ended(second.run_id)
        await db.write(lambda tx: tx.execute(sa.delete(threads).where(threads.c.id == first.thread_id)))
        assert (await program.call()).thread_id != first.thread_id


async def test_a_call_without_the_secret_is_refused_and_not_listed(db: Database, tmp_path: Path) -> None:
    async with stage(db, tmp_path, []) as it:
        program = await new_hook(it)
        with pytest.raises(HookSecretWrong):
            await program.call(secret="whsec_wrong")
        with pytest.raises(HookSecretWrong):
            await actions.call_hook(it.services, "hok_nothing", {}, b"{}")
        rotated = await actions.rotate_hook_secret(it.services, it.owner, program.hook.id)
        with pytest.raises(HookSecretWrong):
            await program.call()
        assert rotated.secret != program.hook.secret
        assert await program.outcomes() == []


async def test_a_call_that_is_refused_has_a_code(db: Database, tmp_path: Path) -> None:
    async with stage(db, tmp_path, []) as it:
        program = await new_hook(it)
        with pytest.raises(MalformedInput):
            await program.call(b"not json")
        with pytest.raises(InputTooLarge):
            await program.call(b'"' + b"x" * 256_000 + b'"')
        await actions.change_hook(it.services, it.owner, program.hook.id, HookChanges(enabled=False))
        with pytest.raises(WebhookOff):
            await program.call()
        assert await program.outcomes() == ["webhook_off", "malformed_input"]
        for wrong in ({"profile": "nobody"}, {"template": "{{ a }}" * 60}):
            with pytest.raises((UnknownProfile, MalformedInput)):
                await new_hook(it, **wrong)


async def test_a_maker_who_lost_their_rights_starts_nothing(db: Database, tmp_path: Path) -> None:
    async with stage(db, tmp_path, []) as it:
        other = await db.write(make_user, "Olga")
        await db.write(join, it.project_id, other, "owner")
        program = await new_hook(it, other)
        await db.write(projects.remove_member, it.project_id, other.user_id)
        with pytest.raises(HookMakerLost):
            await program.call()
        assert await program.outcomes() == ["hook_maker_lost"]


async def test_who_changes_what_it_does_becomes_its_maker(db: Database, tmp_path: Path) -> None:
    async with stage(db, tmp_path, []) as it:
        other = await db.write(make_user, "Olga")
        await db.write(join, it.project_id, other, "owner")
        program = await new_hook(it)
        hook_id, services = program.hook.id, it.services
        off = await actions.change_hook(services, other, hook_id, HookChanges(enabled=False, title="Letters"))
        assert off.created_by == it.owner.user_id
        assert (
            await actions.change_hook(services, other, hook_id, HookChanges(template="Hi."))
        ).created_by_name == "Olga"
        assert (await actions.rotate_hook_secret(services, it.owner, hook_id)).created_by == it.owner.user_id


async def test_calls_have_a_rate(db: Database, tmp_path: Path) -> None:
    settings = settings_class()(webhooks=WebhookSettings(calls_per_minute=2))
    async with stage(db, tmp_path, [turn("One."), turn("Two.")], settings=settings) as it:
        program = await new_hook(it)
        await program.call()
        await program.call()
        with pytest.raises(RateLimited):
            await program.call()
        assert await program.outcomes() == [None, None]

"""A server without HTTP that sends webhooks: the stage of runs, with a sender beside it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from outlast.db.database import Database
from outlast.kernel.agents.tool import Tool
from outlast.kernel.settings import Settings, settings_class
from outlast.kernel.webhooks import actions
from outlast.kernel.webhooks.sender import Sender
from outlast.kernel.webhooks.settings import WebhookSettings
from outlast.kernel.webhooks.shapes import DeliveryAnswer, NewWebhookAnswer, WebhookRequest
from tests.flow.harness import Stage, stage
from tests.flow.webhooks.receiver import Receiver

RUN_EVENTS = ["run.queued", "run.started", "run.completed"]


@dataclass
class Sending(Stage):
    """A stage with webhooks."""

    async def add(self, url: str, events: Sequence[str] = RUN_EVENTS) -> NewWebhookAnswer:
        wanted = WebhookRequest(url=url, events=list(events))
        return await actions.create_webhook(self.services, self.owner, self.project_id, wanted)

    async def deliveries(self, webhook_id: str) -> list[DeliveryAnswer]:
        return (await actions.list_deliveries(self.services, self.owner, webhook_id, None, None, 200)).items

    async def until(self, webhook_id: str, holds: Callable[[list[DeliveryAnswer]], bool]) -> list[DeliveryAnswer]:  # type: ignore[override]
        """Look again and again: the note of an answer rings no bell."""
        with anyio.fail_after(20):
            while True:
                if holds(found := await self.deliveries(webhook_id)):
                    return found
                await anyio.sleep(0.02)

    async def until_all(self, webhook_id: str, state: str) -> list[DeliveryAnswer]:
        return await self.until(webhook_id, lambda found: bool(found) and all(one.state == state for one in found))


@asynccontextmanager
async def sending(
    db: Database, folder: Path, turns: Any, *tools: Tool, to: Sequence[Receiver] = (), **settings: Any
) -> AsyncIterator[Sending]:
    """`to`: receivers that may be sent to, although their addresses are private. `settings`: of webhooks."""
    usual: dict[str, Any] = {"allow_private": tuple(one.place for one in to), "first_retry_s": 0.05, "timeout_s": 5}
    own = WebhookSettings(**usual | settings)
    chosen: Settings = settings_class()(webhooks=own)
    async with stage(db, folder, turns, *tools, settings=chosen) as it, anyio.create_task_group() as tasks:
        sender = Sender(db, it.services.clock, it.services.vault, chosen, share=lambda: 0.5)
        tasks.start_soon(sender.run)
        yield Sending(it.services, it.model, it.owner, it.project_id, it.thread_id)
        tasks.cancel_scope.cancel()

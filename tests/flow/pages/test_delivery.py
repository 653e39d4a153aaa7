"""Any interleaving of actions, prompts, claims, ends and cancels delivers each action to exactly one run, in order."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import anyio
from hypothesis import given
from hypothesis import strategies as st

from outlast.apps.pages.user_actions import take_back
from outlast.base.clock import SystemClock
from outlast.base.errors import ActionTaken
from outlast.db.connect import open_database
from outlast.db.database import Tx
from outlast.kernel.limits.settings import LimitSettings
from outlast.kernel.runs import claims, leases, tables
from outlast.kernel.runs import store as runs
from outlast.kernel.runs.cancel import request_cancel
from outlast.kernel.runs.outcome import Ending
from outlast.kernel.runs.rules import End
from outlast.kernel.runs.settlement import end_unheld
from outlast.kernel.runs.thread_queue import last_queued
from outlast.kernel.runs.transcript import Run
from outlast.kernel.settings import Settings
from outlast.kernel.threads.message_store import message_in
from outlast.kernel.threads.rules import text_of
from tests.flow.pages.rig import PageStage, page_stage

STEPS = st.lists(
    st.one_of(
        st.just(("act",)),
        st.just(("act",)),
        st.just(("prompt",)),
        st.just(("claim",)),
        st.tuples(st.just("end"), st.sampled_from(["completed", "error", "cancelled"])),
        st.just(("cancel",)),
        st.tuples(st.just("take back"), st.integers(0, 5)),
        st.just(("lose",)),
    ),
    max_size=24,
)
UNLIMITED = Settings(limits=LimitSettings(actions_per_minute_per_user=0, runs_per_minute_per_user=0))


class Play:
    """A page whose worker is the test: it claims, ends and loses runs. `read` is what a run had to do when it was
    claimed, by run, in the order of the claims."""

    def __init__(self, it: PageStage) -> None:
        self.it = it
        self.acted: list[str] = []
        self.dropped: set[str] = set()
        self.read: dict[str, str] = {}

    async def step(self, name: str, *how: Any) -> None:
        steps: dict[str, Callable[..., Awaitable[Any]]] = {
            "act": self.act,
            "prompt": self.prompt,
            "claim": self.claim,
            "end": self.end,
            "cancel": self.cancel,
            "take back": self.take_back,
            "lose": self.lose,
        }
        await steps[name](*how)

    async def act(self) -> None:
        name = f"a{len(self.acted)}"
        self.acted.append((await self.it.act(name)).action_id)

    async def prompt(self) -> None:
        await self.it.start("Something in words", on_busy="enqueue")

    async def claim(self) -> bool:
        def claim(tx: Tx) -> bool:
            claimed = claims.claim_ready(tx, "nod_test", timedelta(minutes=1), 1)
            for run, _ in claimed:
                text = text_of(message_in(tx, run.thread_id, run.message_id).parts)
                assert self.read.setdefault(run.id, text) == text, "what a run has to do changed after it began"
            return bool(claimed)

        return await self.it.services.db.write(claim)

    async def end(self, status: Any) -> None:
        def end(tx: Tx) -> None:
            run = self._held(tx)
            if run is not None:
                end_unheld(tx, UNLIMITED, None, run, Ending(End(status, "end"), []))

        await self.it.services.db.write(end)

    async def lose(self) -> None:
        """The worker is killed, and its run is claimed anew."""
        await self.it.services.db.write(partial(leases.free_lapsed, everything=True))

    async def cancel(self) -> None:
        """The newest run, unless a worker has it."""

        def cancel(tx: Tx) -> None:
            held = self._held(tx)
            run_id = last_queued(tx, self.it.thread_id)
            if run_id is not None and (held is None or run_id != held.id):
                request_cancel(tx, self.it.services.engine, run_id, "user", self.it.owner.user_id)

        await self.it.services.db.write(cancel)

    async def take_back(self, nth: int) -> None:
        if nth >= len(self.acted):
            return
        action_id = self.acted[-1 - nth]
        try:
            await take_back(self.it.services, self.it.owner, self.it.page.id, action_id)
        except ActionTaken:
            return
        self.dropped.add(action_id)

    async def drain(self) -> None:
        while True:
            await self.end("completed")
            if not await self.claim():
                return

    def _held(self, tx: Tx) -> Run | None:
        active_id = tx.value(tables.runs.c.id, {"thread_id": self.it.thread_id, "leg": "held"})
        return None if active_id is None else runs.run_of(tx, active_id)


@given(STEPS)
def test_each_action_reaches_exactly_one_run_in_order(migrated_sqlite: Path, steps: list[tuple[Any, ...]]):
    anyio.run(_play, migrated_sqlite, steps)


async def _play(template: Path, steps: list[tuple[Any, ...]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(template, Path(folder, "outlast.db"))
        database = open_database("sqlite:///outlast.db", Path(folder), SystemClock())
        try:
            async with page_stage(database, Path(folder), [], settings=UNLIMITED, working=False) as it:
                play = Play(it)
                for step in steps:
                    await play.step(*step)
                await play.drain()
                await _check(play)
        finally:
            await database.aclose()


async def _check(play: Play) -> None:
    done = {one.id: one for one in await play.it.actions()}
    assert list(done) == play.acted
    delivered = [
        line.split("Action: ")[1].split(" ")[0]
        for text in play.read.values()
        for line in text.split("\n")
        if "Action: " in line
    ]
    states = {one.name: one.state for one in done.values()}
    assert set(states.values()) <= {"done", "failed", "dropped"}
    assert play.dropped <= {one.id for one in done.values() if one.state == "dropped"}
    assert delivered == [name for name, state in states.items() if state != "dropped"]
    for one in done.values():
        if one.state != "dropped":
            assert one.run_id is not None
            assert f"Action: {one.name} " in play.read[one.run_id]

"""The state of a thread: its runs share it, each change is made once, and followers and forks have it too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from outlast import Agent, Context, flow, tool
from outlast.base.agent_errors import StepFailed
from outlast.base.errors import NotFound
from outlast.db.database import Database, Tx
from outlast.kernel.threads import state
from outlast.kernel.threads.actions import delete_thread, fork_thread, open_thread, read_state
from outlast.testing.scripted_model import Call, turn
from tests.factories import make_user
from tests.flow.harness import Stage
from tests.flow.runs.test_functions import playing, texts


async def _state(it: Stage) -> dict[str, Any]:
    return (await read_state(it.services, it.owner, it.thread_id)).values


@flow("chat")
async def visits(ctx: Context) -> str:
    """Counts its calls; a message in the form "key=value" is kept."""
    key, _, value = ctx.message.partition("=")
    if value:
        await ctx.state.set(key, value)
    state = await ctx.state.update(lambda state: {**state, "visits": state.get("visits", 0) + 1})
    return f"{await ctx.state.get('name', 'nobody')}: {state['visits']}"


async def test_runs_of_a_thread_share_its_state_and_people_read_it_with_the_thread(
    db: Database, tmp_path: Path
) -> None:
    async with playing(db, tmp_path, visits) as it:
        opened = await open_thread(it.services, it.owner, it.thread_id)
        assert (opened["state"].revision, opened["state"].values) == (0, {})
        assert texts(await it.events((await it.start()).run_id)) == ["nobody: 1"]
        assert texts(await it.events((await it.start("name=Ada")).run_id)) == ["Ada: 2"]
        assert await _state(it) == {"visits": 2, "name": "Ada"}
        with pytest.raises(NotFound):
            await read_state(it.services, await db.write(make_user, "Sten"), it.thread_id)


async def test_followers_of_the_thread_are_told_the_keys_that_changed(db: Database, tmp_path: Path) -> None:
    @flow("chat")
    async def changing(ctx: Context) -> str:
        await ctx.state.set("count", 1)
        await ctx.state.set("count", True)  # which equals 1 in Python, and not in JSON
        await ctx.state.set("count", True)
        await ctx.state.update(lambda _state: {"stage": None})
        return str(await ctx.state.get("stage", "none"))

    async with playing(db, tmp_path, changing) as it:
        run_id = (await it.start()).run_id
        assert texts(await it.events(run_id)) == ["None"]
        seen: list[dict[str, Any]] = []
        cursor = "0"
        while len(seen) < 3:
            frames = await it.thread_events(cursor, "state.changed")
            cursor = frames[-1][0]
            seen.append(frames[-1][1]["data"])
        assert [(one["revision"], one["values"], one["removed"]) for one in seen] == [
            (1, {"count": 1}, []),
            (2, {"count": True}, []),
            (3, {"stage": None}, ["count"]),
        ]
        assert {(one["thread_id"], one["run_id"]) for one in seen} == {(it.thread_id, run_id)}


async def test_what_was_read_stays_the_same_when_the_function_is_called_again(db: Database, tmp_path: Path) -> None:
    read: list[Any] = []

    @flow("chat")
    async def reading(ctx: Context) -> str:
        before = await ctx.state.get("stage", "new"), await ctx.state.all()
        read.append(before)
        await ctx.state.set("stage", "paid")
        await ctx.sleep(0.01)
        return f"{before[0]}, then {await ctx.state.get('stage')}"

    async with playing(db, tmp_path, reading) as it:
        assert texts(await it.events((await it.start()).run_id)) == ["new, then paid"]
        assert read == [("new", {})] * 2
        assert texts(await it.events((await it.start()).run_id)) == ["paid, then paid"]


async def test_an_update_that_another_run_overtook_is_made_of_what_that_one_wrote(db: Database, tmp_path: Path) -> None:
    """Called agents have threads of their own and the state of the thread that called them."""

    @flow("counter", listed=False)
    async def counter(ctx: Context) -> str:
        state = await ctx.state.update(lambda state: {**state, "count": state.get("count", 0) + 1})
        return str(state["count"])

    @flow("chat")
    async def many(ctx: Context) -> str:
        counts = [ctx.run("counter", "Count.", key=str(n)) for n in range(8)]
        own = [ctx.state.update(lambda state: {**state, "count": state.get("count", 0) + 1}) for _ in range(8)]
        await ctx.gather(*counts, *own)
        return str(await ctx.state.get("count"))

    async with playing(db, tmp_path, many, counter) as it:
        assert texts(await it.events((await it.start()).run_id)) == ["16"]
        assert await _state(it) == {"count": 16}


async def test_a_change_that_came_too_late_is_made_again_of_the_newest_state(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[dict[str, Any]] = []
    save = state.replace_state

    def overtaken(tx: Tx, by: state.StateOwner, values: dict[str, Any], revision: int) -> bool:
        if len(seen) == 1:
            state.set_value(tx, by._replace(run_id="run_other"), "theirs", True)
        return save(tx, by, values, revision)

    def change(values: dict[str, Any]) -> dict[str, Any]:
        seen.append(values)
        return {**values, "mine": True}

    @flow("chat")
    async def slow(ctx: Context) -> str:
        return str(sorted(await ctx.state.update(change)))

    monkeypatch.setattr(state, "replace_state", overtaken)
    async with playing(db, tmp_path, slow) as it:
        assert texts(await it.events((await it.start()).run_id)) == ["['mine', 'theirs']"]
        assert seen == [{}, {"theirs": True}]


BAD: list[tuple[str, Any, str]] = [
    ("big", "x" * 70_000, "at most 65,536 bytes"),
    ("", 1, "a key of the state is a text of 1 to 200 characters"),
    ("k" * 201, 1, "a key of the state is a text of 1 to 200 characters"),
    ("object", object(), "object"),
    ("number", 2**70, "64-bit"),
    ("surrogate", "\ud800", "surrogates"),
]


@pytest.mark.parametrize(("key", "value", "told"), BAD, ids=[one[0][:9] for one in BAD])
async def test_what_the_state_cannot_hold_fails_the_step_and_changes_nothing(
    db: Database, tmp_path: Path, key: str, value: Any, told: str
) -> None:
    @flow("chat")
    async def trying(ctx: Context) -> str:
        found = []
        for _ in range(2):
            with pytest.raises(StepFailed) as failed:
                await ctx.state.set(key, value)
            found.append(failed.value.message)
        await ctx.sleep(0.01)  # it fails again in the same way when the function is called again
        with pytest.raises(StepFailed):
            await ctx.state.update(lambda state: {**state, key: value})
        return found[0]

    async with playing(db, tmp_path, trying) as it:
        [said] = texts(await it.events((await it.start()).run_id))
        assert told in said
        assert await _state(it) == {}


async def test_a_state_full_of_small_values_is_refused_with_both_sizes(db: Database, tmp_path: Path) -> None:
    @flow("chat")
    async def filling(ctx: Context) -> str:
        for n in range(8):
            await ctx.state.set(f"part {n}", "x" * 10_000)
        return "never"

    @flow("chat")
    async def careful(ctx: Context) -> str:
        try:
            await filling.flow(ctx)  # type: ignore[misc]
        except StepFailed as error:
            return f"{error.fields['kind']}: {error.message}"
        return "never"

    async with playing(db, tmp_path, careful) as it:
        [said] = texts(await it.events((await it.start()).run_id))
        assert "StateTooLarge: set part 6: The state of a thread has at most 65,536 bytes as JSON; this" in said
        assert len(await _state(it)) == 6


async def test_a_tool_of_a_model_reads_and_writes_the_state(db: Database, tmp_path: Path) -> None:
    @tool
    async def remember(ctx: Context, name: str) -> str:
        """Keep a name."""
        before = await ctx.state.get("name", "nobody")
        await ctx.state.set("name", name)
        return f"before: {before}"

    chat = Agent("chat", instructions="", tools=[remember])
    turns = [turn(Call("remember", {"name": "Ada"}), Call("remember", {"name": "Bo"})), turn("Done.")]
    async with playing(db, tmp_path, chat, turns=turns) as it:
        assert texts(await it.events((await it.start()).run_id)) == ["Done."]
        assert (await _state(it))["name"] in ("Ada", "Bo")


async def test_a_fork_begins_with_the_state_and_goes_its_own_way_and_a_deleted_thread_has_none(
    db: Database, tmp_path: Path
) -> None:
    async with playing(db, tmp_path, visits) as it:
        await it.events((await it.start("name=Ada")).run_id)
        fork = await fork_thread(it.services, it.owner, it.thread_id)
        await it.events((await it.start("name=Bo", target=fork.id)).run_id)
        assert await _state(it) == {"visits": 1, "name": "Ada"}
        forked = await read_state(it.services, it.owner, fork.id)
        assert (forked.thread_id, forked.values) == (fork.id, {"visits": 2, "name": "Bo"})
        await delete_thread(it.services, it.owner, it.thread_id)
        with pytest.raises(NotFound):
            await _state(it)
        assert (await read_state(it.services, it.owner, fork.id)).values["name"] == "Bo"

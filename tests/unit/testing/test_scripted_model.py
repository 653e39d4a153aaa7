"""The scripted model does what a test wrote down, and fails like the real ones."""

from contextlib import aclosing

import anyio
import pytest

from outlast.base import errors
from outlast.kernel.models.protocol import (
    Delta,
    LanguageModel,
    ModelRequest,
    ModelSpec,
    ReasoningDelta,
    TextDelta,
    ToolArgumentsDelta,
    ToolCallStart,
    TurnEnd,
)
from outlast.testing.scripted_model import HANG, Call, Fail, ScriptedModel, Think, WaitFor, turn

REQUEST = ModelRequest(ModelSpec("m", "p", "m"), "", ())


async def listen(model: LanguageModel) -> list[Delta]:
    async with aclosing(model.stream(REQUEST)) as batches:
        return [delta async for batch in batches for delta in batch]


async def test_a_turn_is_played_step_by_step() -> None:
    model = ScriptedModel([turn(Think("Hm."), "Two words", Call("terminal", {"command": "ls"}, "c1"))])
    deltas = await listen(model)
    assert deltas[:3] == [ReasoningDelta("Hm."), TextDelta("Two"), TextDelta(" words")]
    assert ToolCallStart(0, "c1", "terminal") in deltas
    assert "".join(d.delta for d in deltas if isinstance(d, ToolArgumentsDelta)) == '{"command":"ls"}'
    assert isinstance(deltas[-1], TurnEnd)
    assert deltas[-1].finish == "tool_calls"
    assert model.requests == [REQUEST]


async def test_an_error_comes_where_it_was_written() -> None:
    model = ScriptedModel([turn("Before", Fail(errors.ModelCut("gone")), "after"), turn("Again")])
    heard: list[Delta] = []

    async def hear() -> None:
        async for batch in model.stream(REQUEST):
            heard.extend(batch)

    with pytest.raises(errors.ModelCut):
        await hear()
    assert heard == [TextDelta("Before")]
    assert (await listen(model))[0] == TextDelta("Again")


async def test_broken_arguments_are_handed_on_as_a_provider_adapter_does() -> None:
    heard = await listen(ScriptedModel([turn(Call("terminal", '{"command": "l'))]))
    assert "".join(delta.delta for delta in heard if isinstance(delta, ToolArgumentsDelta)) == '{"command": "l'


async def test_it_waits_for_the_test_and_hangs_until_cancelled() -> None:
    gate = anyio.Event()
    model = ScriptedModel([turn(WaitFor(gate), "Now", HANG)])
    heard: list[Delta] = []

    async def hear() -> None:
        async with aclosing(model.stream(REQUEST)) as batches:
            async for batch in batches:
                heard.extend(batch)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(hear)
        await model.wait_requests(1)
        assert heard == []
        gate.set()
        await anyio.wait_all_tasks_blocked()
        assert heard == [TextDelta("Now")]
        assert model.open_streams == 1
        tasks.cancel_scope.cancel()
    assert (model.open_streams, model.abandoned) == (0, 1)


async def test_a_request_beyond_the_script_fails_the_test() -> None:
    with pytest.raises(AssertionError):
        await listen(ScriptedModel([]))
    repeating = ScriptedModel([turn("Same")], repeat_last=True)
    assert await listen(repeating) == await listen(repeating)


async def test_turns_may_follow_from_the_request() -> None:
    model = ScriptedModel(lambda request: turn(f"I am {request.model.id}"))
    assert "".join(d.text for d in await listen(model) if isinstance(d, TextDelta)) == "I am m"

"""The demo model's scripts, driven to their end with fake tool results."""

from contextlib import aclosing
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.kernel.models.protocol import (
    Delta,
    ModelMessage,
    ModelRequest,
    ModelSpec,
    ReasoningDelta,
    TextDelta,
    TextPiece,
    ToolArgumentsDelta,
    ToolCallPiece,
    ToolCallStart,
    ToolResultPiece,
    ToolSpec,
    TurnEnd,
)
from outlast.kernel.models.turn_calls import split_words
from outlast.kernel.runs.child_runs import message_with
from outlast_demo.answers import answer_said, quoted
from outlast_demo.model import DemoModel

SPEC = ModelSpec("demo", "demo", "demo")
NAMES = ("terminal", "create_or_update_files", "read_files", "run_code", "ask_user")
TOOLS = tuple(ToolSpec(name, "", {"type": "object"}) for name in NAMES)
OUTPUTS = {
    "terminal": '{"exit_code": 0, "stdout": "fibonacci: 0, 1, 1\\n"}',
    "run_code": '{"success": true, "result": 204}',
    "create_or_update_files": '{"written": ["fibonacci.py"]}',
    "ask_user": '{"answers": {"name": "Ada", "topic": "A long command"}}',
}


class Played:
    """A conversation with the demo model until it stops calling tools."""

    def __init__(self) -> None:
        self.text = ""
        self.reasoning = ""
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.call_ids: list[str] = []
        self.turns = 0


async def turn_of(request: ModelRequest) -> list[Delta]:
    deltas: list[Delta] = []
    async with aclosing(DemoModel(delta_delay_s=0).stream(request)) as batches:
        async for batch in batches:
            deltas += batch
    return deltas


def request_of(messages: list[ModelMessage], tools: tuple[ToolSpec, ...] = TOOLS) -> ModelRequest:
    return ModelRequest(SPEC, "", tuple(messages), tools)


async def play(asked: str, outputs: dict[str, str] = OUTPUTS, *, failing: str = "") -> Played:
    played = Played()
    messages = [ModelMessage("user", (TextPiece(asked),))]
    while True:
        played.turns += 1
        assert played.turns < 10
        deltas = await turn_of(request_of(messages))
        played.text = "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))
        played.reasoning += "".join(delta.text for delta in deltas if isinstance(delta, ReasoningDelta))
        end = deltas[-1]
        assert isinstance(end, TurnEnd)
        calls = calls_in(deltas)
        assert (end.finish == "tool_calls") is bool(calls)
        if not calls:
            return played
        played.calls += [(call.name, orjson.loads(call.arguments)) for call in calls]
        played.call_ids += [call.call_id for call in calls]
        results = [
            ToolResultPiece(call.call_id, call.name, outputs[call.name], is_error=call.name == failing)
            for call in calls
        ]
        messages += [ModelMessage("assistant", tuple(calls)), ModelMessage("tool", tuple(results))]


def calls_in(deltas: list[Delta]) -> list[ToolCallPiece]:
    arguments: dict[int, str] = {}
    for delta in deltas:
        if isinstance(delta, ToolArgumentsDelta):
            arguments[delta.index] = arguments.get(delta.index, "") + delta.delta
    starts = [delta for delta in deltas if isinstance(delta, ToolCallStart)]
    return [ToolCallPiece(start.call_id, start.name, arguments[start.index]) for start in starts]


async def test_it_says_what_it_is_and_what_to_try() -> None:
    played = await play("Hello!")
    assert "**demo model**" in played.text
    assert "recorded" in played.text
    assert played.calls == []


@pytest.mark.parametrize("asked", ["Write a Fibonacci program", "please run some code", "show me primes"])
async def test_code_is_written_run_and_its_real_output_quoted(asked: str) -> None:
    played = await play(asked)
    assert [name for name, _ in played.calls] == ["create_or_update_files", "terminal", "run_code"]
    path = played.calls[0][1]["files"][0]["path"]
    assert played.calls[1][1]["command"] == f"python3 {path}"
    assert played.calls[2][1]["language"] == "typescript"
    assert played.reasoning
    assert "fibonacci: 0, 1, 1" in played.text
    assert "204" in played.text
    assert len(set(played.call_ids)) == 3


async def test_the_programs_it_writes_are_python() -> None:
    for asked in ("fibonacci", "primes"):
        source = (await play(asked)).calls[0][1]["files"][0]["content"]
        compile(source, "demo.py", "exec")


async def test_a_failed_tool_ends_the_script_with_its_words() -> None:
    played = await play("fibonacci", {**OUTPUTS, "terminal": "python3: not found"}, failing="terminal")
    assert [name for name, _ in played.calls] == ["create_or_update_files", "terminal"]
    assert "python3: not found" in played.text


async def test_a_long_command_takes_about_twenty_seconds_and_is_counted() -> None:
    output = "".join(f"line {number} of 20\n" for number in range(1, 21))
    played = await play("run a long command", {"terminal": output})
    assert played.calls == [("terminal", {"command": 'for i in $(seq 1 20); do echo "line $i of 20"; sleep 1; done'})]
    assert "**20** lines" in played.text


async def test_cleaning_up_calls_what_the_default_policy_asks_about() -> None:
    played = await play("Please clean up")
    assert played.calls == [("terminal", {"command": "rm -rf build"})]


async def test_a_denied_call_is_reported_as_not_done() -> None:
    played = await play("delete it", {"terminal": "Denied: not today"}, failing="terminal")
    assert "did not delete anything" in played.text
    assert "not today" in played.text


async def test_a_persons_answers_are_used() -> None:
    played = await play("ask me something")
    questions = played.calls[0][1]["questions"]
    assert [question["id"] for question in questions] == ["name", "topic"]
    assert "Ada" in played.text
    assert "A long command" in played.text


async def test_the_essay_is_long_markdown() -> None:
    played = await play("tell me a story")
    assert len(played.text.split()) > 600
    for mark in ("\n# ", "\n1. ", "| --- |".replace(" ", ""), "```"):
        assert mark in "\n" + played.text


@pytest.mark.parametrize("asked", ["fibonacci", "long", "clean", "ask me"])
async def test_without_its_tools_it_says_so_instead_of_pretending(asked: str) -> None:
    deltas = await turn_of(request_of([ModelMessage("user", (TextPiece(asked),))], ()))
    assert calls_in(deltas) == []
    assert "have not got here" in "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))


async def test_without_its_tools_it_repeats_the_data_that_a_flow_gave_it() -> None:
    asked = message_with("Write the digest.", [{"urgent": True, "topic": "repair"}])
    said = await turn_of(request_of([ModelMessage("user", (TextPiece(asked),))], ()))
    text = "".join(delta.text for delta in said if isinstance(delta, TextDelta))
    assert "for “Write the digest.”" in text
    assert '"topic": "repair"' in text


async def test_the_same_request_gives_the_same_deltas() -> None:
    request = request_of([ModelMessage("user", (TextPiece("fibonacci"),))])
    assert await turn_of(request) == await turn_of(request)


async def test_a_new_question_starts_a_new_script() -> None:
    messages = [
        ModelMessage("user", (TextPiece("fibonacci"),)),
        ModelMessage("tool", (ToolResultPiece("x", "terminal", "out"),)),
        ModelMessage("user", (TextPiece("clean up"),)),
    ]
    calls = calls_in(await turn_of(request_of(messages)))
    assert [call.arguments for call in calls] == ['{"command":"rm -rf build"}']


async def test_words_come_one_by_one_at_the_clocks_pace() -> None:
    slept: list[float] = []

    class Clock:
        async def sleep(self, seconds: float) -> None:
            slept.append(seconds)

    model = DemoModel(delta_delay_s=0.5, clock=Clock())  # type: ignore[arg-type]
    batches = [batch async for batch in model.stream(request_of([ModelMessage("user", (TextPiece("hi"),))]))]
    assert all(len(batch) == 1 for batch in batches)
    assert slept == [0.5] * (len(batches) - 1)


@pytest.mark.parametrize(
    "content",
    [
        '{"name": "Ada"}',
        '{"answers": {"name": "Ada"}}',
        '{"answers": {"name": ["Ada"]}}',
        '{"answers": [{"id": "name", "answer": "Ada"}]}',
        '[{"id": "name", "value": "Ada"}]',
    ],
)
def test_an_answer_is_found_in_whatever_shape_it_came(content: str) -> None:
    assert answer_said(content, "name") == "Ada"


@pytest.mark.parametrize("content", ["", "null", "[1]", "not json", '{"answers": 3}'])
def test_no_answer_is_an_empty_one(content: str) -> None:
    assert answer_said(content, "name") == ""


@given(st.text())
def test_a_quote_is_always_one_closed_block(content: str) -> None:
    block = quoted(content).split("\n")
    fence = block[-1]
    assert set(fence) == {"`"}
    assert block[0] == f"{fence}text"
    assert not any(line.startswith(fence) for line in block[1:-1])


@given(st.text())
def test_words_joined_are_the_text(text: str) -> None:
    assert "".join(split_words(text)) == text

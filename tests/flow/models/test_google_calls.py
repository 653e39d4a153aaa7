"""Gemini's calls whose arguments come in pieces, over the wire as Vertex sends them."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from outlast.kernel.models.protocol import ToolCallPiece
from outlast.testing.model_server import Answer
from tests.flow.models.rig import listen, rigged

NAME = "terminal"


def recorded(*parts: list[dict[str, Any]], finish: str = "STOP") -> Answer:
    """An answer with these parts in its chunks; the last one ends it."""
    chunks: list[dict[str, Any]] = [{"content": {"role": "model", "parts": one}, "index": 0} for one in parts]
    chunks[-1]["finishReason"] = finish
    usage = {"promptTokenCount": 25, "candidatesTokenCount": 4, "totalTokenCount": 29}
    lines = [{"candidates": [one], "usageMetadata": usage, "modelVersion": "m", "responseId": "r"} for one in chunks]
    return Answer(events="".join(f"data: {orjson.dumps(line).decode()}\r\n\r\n" for line in lines))


def call(**fields: Any) -> list[dict[str, Any]]:
    return [{"functionCall": fields}]


def piece(path: str, *, more: bool = False, **value: Any) -> dict[str, Any]:
    return {"jsonPath": path, **value, **({"willContinue": True} if more else {})}


BEGUN = [{"functionCall": {"name": NAME, "id": "c1", "willContinue": True}, "thoughtSignature": "c2ln"}]
ENDED = call()


async def calls_of(*parts: list[dict[str, Any]], finish: str = "STOP") -> tuple[ToolCallPiece, ...]:
    async with rigged("google", recorded(*parts, finish=finish)) as rig:
        heard = await listen(rig.model, rig.request())
        assert heard.error is None
        return heard.calls


async def test_pieces_become_one_call_with_all_its_arguments():
    """Two recordings came out as a call with no arguments at all."""
    (made,) = await calls_of(
        BEGUN,
        call(partialArgs=[piece("$.command", stringValue="echo New", more=True)], willContinue=True),
        call(partialArgs=[piece("$.command", stringValue=" York")], willContinue=True),
        call(partialArgs=[piece("$.times", numberValue=2), piece("$.loud", boolValue=True)], willContinue=True),
        ENDED,
    )
    assert (made.call_id, made.name) == ("c1", NAME)
    assert orjson.loads(made.arguments) == {"command": "echo New York", "times": 2, "loud": True}


async def test_paths_lead_into_lists_and_objects():
    (made,) = await calls_of(
        BEGUN,
        call(partialArgs=[piece("$.files[0].path", stringValue="a.", more=True)], willContinue=True),
        call(partialArgs=[piece("$.files[0].path", stringValue="py")], willContinue=True),
        call(partialArgs=[piece("$.files[1]['odd name']", numberValue=1.5)], willContinue=True),
        call(partialArgs=[piece("$.none", nullValue="NULL_VALUE")], willContinue=False),
    )
    assert orjson.loads(made.arguments) == {"files": [{"path": "a.py"}, {"odd name": 1.5}], "none": None}


async def test_calls_follow_each_other_and_whole_ones_stay_as_they_are():
    first, second, third = await calls_of(
        BEGUN,
        call(partialArgs=[piece("$.command", stringValue="one")], willContinue=True),
        ENDED,
        call(name=NAME, id="c2", args={"command": "two"}),
        call(name=NAME, id="c3", partialArgs=[piece("$.command", stringValue="three")]),
    )
    assert [orjson.loads(made.arguments)["command"] for made in (first, second, third)] == ["one", "two", "three"]
    assert [made.call_id for made in (first, second, third)] == ["c1", "c2", "c3"]


async def test_a_call_that_never_ended_is_handed_on_as_cut():
    (made,) = await calls_of(
        BEGUN,
        call(partialArgs=[piece("$.command", stringValue="rm -rf build", more=True)], willContinue=True),
        finish="MAX_TOKENS",
    )
    assert made.arguments == '{"command":"rm -rf build"'


@pytest.mark.parametrize("path", ["", "$", "$.a[7]", "$..", "$.command.below", "$" + ".a" * 100, "$[0]"])
async def test_a_path_that_leads_nowhere_makes_a_call_that_is_refused_not_one_that_is_made(path: str):
    (made,) = await calls_of(
        BEGUN,
        call(partialArgs=[piece("$.command", stringValue="ls")], willContinue=True),
        call(partialArgs=[piece(path, stringValue="x")], willContinue=True),
        ENDED,
    )
    with pytest.raises(orjson.JSONDecodeError):
        orjson.loads(made.arguments)


async def test_the_signature_goes_back_with_the_whole_call():
    async with rigged("google", recorded(BEGUN, ENDED), Answer(text="Done.")) as rig:
        heard = await listen(rig.model, rig.request())
        assert "c2ln" in orjson.dumps(heard.end.opaque).decode()

"""From a thread's history to what a model is told."""

from __future__ import annotations

from typing import Any

import pytest

from outlast.kernel.agents.context_window import CHARS_PER_TOKEN, OLD_RESULT_CHARS, messages_from
from outlast.kernel.models.protocol import ImagePiece, ModelMessage, TextPiece, ToolCallPiece, ToolResultPiece
from outlast.kernel.runs.history import Exchange

PLENTY = 100_000


def text(words: str, step: int = 0) -> dict[str, Any]:
    return {"type": "text", "id": "prt", "step": step, "text": words}


def call(step: int, result: str | None = "ok", status: str = "done") -> dict[str, Any]:
    body = {"call_id": f"c{step}", "tool": "look", "arguments": "", "result": result, "status": status}
    return {"type": "tool_call", "id": "prt", "step": step, **body}


def blind(_attachment_id: str) -> None:
    return None


def said(messages: list[ModelMessage]) -> list[tuple[str, tuple[Any, ...]]]:
    return [(message.role, message.pieces) for message in messages]


def test_an_earlier_answer_is_told_step_by_step_without_its_reasoning() -> None:
    thought = {"type": "reasoning", "id": "prt", "step": 1, "text": "Hm."}
    notice = {"type": "notice", "id": "prt", "step": 1, "code": "x", "level": "info", "text": "Note"}
    answered = [thought, text("Looking.", 1), call(1), notice, text("Done.", 2)]
    messages = messages_from([Exchange([text("Hi")], answered), Exchange([text("And?")], ())], PLENTY, blind)
    assert said(messages) == [
        ("user", (TextPiece("Hi"),)),
        ("assistant", (TextPiece("Looking."), ToolCallPiece("c1", "look", "{}"))),
        ("tool", (ToolResultPiece("c1", "look", "ok"),)),
        ("assistant", (TextPiece("Done."),)),
        ("user", (TextPiece("And?"),)),
    ]


@pytest.mark.parametrize("status", ["error", "denied", "interrupted", "cancelled"])
def test_every_old_call_has_a_result_and_failures_are_told_as_such(status: str) -> None:
    exchange = Exchange([text("Hi")], [call(1, None, status)])
    (result,) = messages_from([exchange], PLENTY, blind)[-1].pieces
    assert result == ToolResultPiece("c1", "look", "(no result was recorded)", True)


def test_an_image_of_an_earlier_call_is_told_by_what_it_shows() -> None:
    image = {"type": "image", "id": "prt", "step": 1, "attachment_id": "att_1", "name": "Prices", "call_id": "c1"}
    messages = messages_from([Exchange([text("Hi")], [call(1), image])], PLENTY, blind)
    assert messages[-1].pieces == (ToolResultPiece("c1", "look", "ok\n[image Prices: shown in this earlier answer]"),)


def test_long_results_of_earlier_runs_are_shortened() -> None:
    exchange = Exchange([text("Hi")], [call(1, "x" * 50_000)])
    (result,) = messages_from([exchange], PLENTY, blind)[-1].pieces
    assert isinstance(result, ToolResultPiece)
    assert len(result.content) < OLD_RESULT_CHARS + 50
    assert result.content.endswith("shortened …]")


def test_the_oldest_are_left_out_where_the_budget_ends_and_the_own_message_always_stays() -> None:
    exchanges = [Exchange([text(f"{n}" * 40)], [text("a" * 40, 1)]) for n in range(5)]
    exchanges.append(Exchange([text("own" * 1_000)], ()))
    for budget, kept in ((1, 1), (3_080 // CHARS_PER_TOKEN, 2), (3_160 // CHARS_PER_TOKEN, 3), (PLENTY, 6)):
        messages = messages_from(exchanges, budget, blind)
        assert sum(message.role == "user" for message in messages) == kept
        assert messages[-1].pieces == (TextPiece("own" * 1_000),)


def test_an_agent_that_takes_over_reads_the_persons_message_even_if_the_answer_before_has_no_room() -> None:
    exchanges = [
        Exchange([text("before")], [text("b" * 40, 1)]),
        Exchange([text("own")], [text("a" * 400, 1)]),
        Exchange([text("over to two")], [text("a" * 40, 1)], handed_over=True),
        Exchange([text("over to you")], (), handed_over=True),
    ]
    whole = ["before", "own", "over to two", "over to you"]
    for budget, read in ((1, ["own", "over to you"]), (30, whole[1:]), (120, whole[1:]), (PLENTY, whole)):
        messages = messages_from(exchanges, budget, blind)
        assert [one.pieces for one in messages if one.role == "user"] == [(TextPiece(words),) for words in read]


def test_images_are_shown_to_those_who_see_and_named_to_those_who_do_not() -> None:
    image = {"type": "image", "id": "prt", "step": 0, "attachment_id": "att_1", "name": "cat.png"}
    seen = messages_from([Exchange([image], ())], PLENTY, lambda _id: ("image/png", b"bytes"))
    assert seen[0].pieces == (ImagePiece("image/png", b"bytes"),)
    (told,) = messages_from([Exchange([image], ())], PLENTY, blind)[0].pieces
    assert isinstance(told, TextPiece)
    assert "cat.png" in told.text


def test_an_empty_message_is_still_one() -> None:
    assert said(messages_from([Exchange([], ())], PLENTY, blind)) == [("user", (TextPiece(""),))]

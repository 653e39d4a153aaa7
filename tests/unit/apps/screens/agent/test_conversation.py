"""How a screen's conversation is told to its agent: roles, texts, summaries, captures, images, and what fits."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outlast.apps.screens.agent.conversation import (
    EXACTLY,
    AgentMessage,
    format_messages_for_agent,
    records_of,
    told,
    within,
)
from outlast.apps.screens.agent.tags import generate_files_summary, parse_files_summary
from outlast.kernel.models.protocol import ImagePiece, ModelMessage, TextPiece
from outlast.kernel.runs.history import Exchange

PLENTY = 100_000


def text(words: str, step: int = 0) -> dict[str, Any]:
    return {"type": "text", "id": "prt", "step": step, "text": words}


def image(name: str = "cat.png") -> dict[str, Any]:
    return {"type": "image", "id": "prt", "step": 0, "attachment_id": "att_1", "name": name}


def wrote(*paths: str, status: str = "done") -> dict[str, Any]:
    arguments = orjson.dumps({"files": [{"path": path, "content": ""} for path in paths]}).decode()
    body = {"call_id": "c", "tool": "create_or_update_files", "arguments": arguments, "status": status}
    return {"type": "tool_call", "id": "prt", "step": 1, "result": "ok", **body}


def record(role: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "parts": list(parts)}


def blind(_attachment_id: str) -> None:
    return None


def words(message: ModelMessage) -> str:
    return "\n".join(piece.text for piece in message.pieces if isinstance(piece, TextPiece))


# --- formatMessagesForAgent: "test with empty array, single message, multiple messages"


def test_no_messages_give_none() -> None:
    assert format_messages_for_agent([]) == []


def test_one_message_keeps_its_role_and_words() -> None:
    assert format_messages_for_agent([record("user", text("Hi"))]) == [AgentMessage("user", "Hi")]


def test_several_messages_stay_in_their_order_and_other_roles_are_passed_over() -> None:
    records = [
        record("user", text("One")),
        record("system", text("x")),
        record("assistant", text("Two"), text("Three")),
    ]
    assert [(m.role, m.content) for m in format_messages_for_agent(records)] == [
        ("user", "One"),
        ("assistant", "Two\n\nThree"),
    ]


_words = st.text(st.characters(codec="utf-8"), min_size=1, max_size=60).filter(
    lambda said: said.strip() != "" and "UNITSET" not in said
)
_records = st.lists(st.tuples(st.sampled_from(["user", "assistant"]), _words), max_size=12)


@settings(max_examples=200)
@given(_records)
def test_seed_000_property_3_every_record_becomes_a_message_of_its_role_and_content_in_order(
    said: list[tuple[str, str]],
) -> None:
    """Feature: screen chat history, Property 3: message history formatting (requirement 2.2)."""
    formatted = format_messages_for_agent([record(role, text(content)) for role, content in said])
    assert [(message.role, message.content) for message in formatted] == said


_files = st.dictionaries(
    st.from_regex(r"[a-z]{1,8}(/[a-z]{1,8}){0,2}\.tsx", fullmatch=True), _words, min_size=1, max_size=6
)


@settings(max_examples=200)
@given(st.lists(st.tuples(_words, _files), min_size=1, max_size=4))
def test_seed_000_property_6_files_summaries_stay_in_what_the_agent_is_told(
    answers: list[tuple[str, dict[str, str]]],
) -> None:
    """Feature: screen chat history, Property 6: files summary inclusion in context (requirements 6.2, 6.3)."""
    exchanges = [
        Exchange([text("Ask")], [text(f"{said}\n\n{generate_files_summary(files)}", 1)]) for said, files in answers
    ]
    messages = told([*exchanges, Exchange([text("Now")], ())], "context", PLENTY, blind)
    heard = [words(message) for message in messages if message.role == "assistant"]
    assert len(heard) == len(answers)
    for content, (_, files) in zip(heard, answers, strict=True):
        assert generate_files_summary(files) in content
        assert [one.path for one in parse_files_summary(content) or []] == list(files)


def test_an_answer_without_a_summary_gets_one_of_the_files_it_had_written() -> None:
    answered = [text("Let me.", 1), wrote("app/page.tsx", "components/a.tsx"), wrote("no.tsx", status="error")]
    (message,) = format_messages_for_agent([record("assistant", *answered)])
    assert [one.path for one in parse_files_summary(message.content) or []] == ["app/page.tsx", "components/a.tsx"]
    assert message.content.startswith("Let me.")


def test_calls_whose_arguments_cannot_be_read_add_nothing() -> None:
    broken = {**wrote(), "arguments": '{"files": [{"pa'}
    (message,) = format_messages_for_agent([record("assistant", text("Hm."), broken)])
    assert message.content == "Hm."


def test_the_runs_own_message_comes_last_behind_what_it_found() -> None:
    exchanges = [Exchange([text("First")], [text("Done.", 1)]), Exchange([text("Second")], ())]
    messages = told(exchanges, "[found]", PLENTY, blind)
    assert [(message.role, words(message)) for message in messages] == [
        ("user", "First"),
        ("assistant", "Done."),
        ("user", "[found]\nSecond"),
    ]


def test_a_capture_in_the_own_message_brings_the_rule_and_an_old_one_does_not() -> None:
    block = "[UNITSET_ELEMENT_CAPTURE]\n<b>x</b>\n[/UNITSET_ELEMENT_CAPTURE]"
    now = told([Exchange([text(f"Like this {block}")], ())], "", PLENTY, blind)
    assert words(now[-1]).endswith(EXACTLY)
    before = told([Exchange([text(block)], [text("Ok", 1)]), Exchange([text("Thanks")], ())], "", PLENTY, blind)
    assert EXACTLY not in words(before[-1])


def test_images_are_shown_to_those_who_see_and_named_to_those_who_do_not() -> None:
    exchanges = [Exchange([text("Look"), image()], ())]
    assert told(exchanges, "", PLENTY, lambda _: ("image/png", b"x"))[-1].pieces[-1] == ImagePiece("image/png", b"x")
    assert "cat.png: not shown to this model" in words(told(exchanges, "", PLENTY, blind)[-1])


@pytest.mark.parametrize(("chars", "kept"), [(0, 1), (10, 1), (30, 3), (50, 5), (1000, 5)])
def test_the_oldest_are_left_out_and_what_is_left_begins_with_a_person(chars: int, kept: int) -> None:
    roles = ("user", "assistant", "user", "assistant", "user")
    messages = [AgentMessage(role, "x" * 10) for role in roles]  # type: ignore[arg-type]
    left = within(messages, chars)
    assert len(left) == kept
    assert left[0].role == "user"
    assert left[-1] is messages[-1]


def test_exchanges_become_records_with_answers_only_where_there_are_some() -> None:
    exchanges = [Exchange([text("a")], ()), Exchange([text("b")], [text("c", 1)])]
    assert [one["role"] for one in records_of(exchanges)] == ["user", "user", "assistant"]

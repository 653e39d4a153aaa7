"""Answers of MCP servers are refused by what they would cost to read, not by their bytes alone."""

from __future__ import annotations

import json
import re

from hypothesis import given
from hypothesis import strategies as st

from outlast.kernel.mcp.answer_sizes import AnswerSize

BLOCK = 65_536


def is_refused(answer: object, block: int = BLOCK) -> bool:
    body, size = json.dumps(answer, ensure_ascii=False).encode(), AnswerSize()
    return any(size.is_too_large(body[at : at + block]) for at in range(0, len(body), block))


def test_text_is_cheap_and_values_are_not() -> None:
    row = {"id": 1, "title": "An issue, with a comma", "labels": ["a", "b"]}
    assert not is_refused({"text": "a, [b] {c}\n" * 400_000})
    assert is_refused({"text": "a line of text\n" * 700_000})
    assert not is_refused({"text": json.dumps([row] * 30_000)})  # JSON in a text is a text
    assert not is_refused({"rows": [row] * 9_000})
    assert is_refused({"rows": [row] * 15_000})
    assert not is_refused({"text": "größer\n" * 200_000})
    assert is_refused({"text": "größer\n" * 400_000})


@given(
    st.recursive(st.text() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)),
    st.integers(1, 7),
)
def test_values_are_counted_alike_however_the_answer_is_cut_into_blocks(answer: object, block: int) -> None:
    body, size = json.dumps(answer).encode(), AnswerSize()
    counted = sum(size._values_in(size._rest + body[at : at + block]) for at in range(0, len(body), block))
    assert counted == len(re.findall(rb"[,\[{]", re.sub(rb'"(?:[^"\\]|\\.)*"', b"", body)))

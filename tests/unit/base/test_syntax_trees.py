"""Texts that grammars read for ever."""

from __future__ import annotations

from contextlib import suppress

import pytest
import tree_sitter_typescript
from hypothesis import given, settings
from hypothesis import strategies as st
from tree_sitter import Language

from outlast.base.syntax_trees import Budget, TooManySteps, parse_within

TSX = Language(tree_sitter_typescript.language_tsx())
ENDLESS = '`${const =[b""/>async}${<div>${#'


def test_a_text_that_the_grammar_reads_for_ever_is_stopped() -> None:
    """These 32 characters sent the grammar of TSX back and forth without end."""
    budget = Budget(20_000)
    with pytest.raises(TooManySteps):
        parse_within(TSX, ENDLESS.encode(), budget, 60)
    assert budget.spent == budget.most
    with pytest.raises(TooManySteps):  # nothing is left for the next
        budget.spend()


def test_a_parse_that_takes_too_long_is_stopped_whatever_its_steps() -> None:
    with pytest.raises(TooManySteps):
        parse_within(TSX, b"const a = 1;\n" * 10_000, Budget(10**9), 0.001)


def test_an_ordinary_text_takes_a_few_steps_for_each_byte() -> None:
    source = b"export const A = ({ b }: Props) => <p className='m-4'>{b} and more</p>;\n" * 200
    budget = Budget(10**9)
    assert not parse_within(TSX, source, budget, 60).root_node.has_error
    assert budget.spent < 4 * len(source)


_TOKENS = st.lists(
    st.sampled_from(
        ["<div>", "</div>", "<", "/>", ">", "{", "}", "(", ")", "[", "=>", "=", "`", "${", '"', "b", "async ", "<T,",
         ":", "#", "const ", "class ", "interface ", "function ", "await ", "/", "/*", "\n", " ", "é", "\x00"]
    ),
    min_size=1,
    max_size=8,
).map("".join)  # fmt: skip


@settings(max_examples=60)
@given(_TOKENS, _TOKENS, st.sampled_from([300, 5_000]))
def test_any_text_is_read_or_refused_within_its_steps(motif: str, ending: str, length: int) -> None:
    source = ((motif * length)[:length] + ending).encode()
    budget = Budget(20 * len(source) + 20_000)
    with suppress(TooManySteps):
        parse_within(TSX, source, budget, 60)
    assert budget.spent <= budget.most

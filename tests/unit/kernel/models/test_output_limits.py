"""How long an answer may be: by the shipped table, and by what a provider says when that is too much."""

from __future__ import annotations

import tomllib
from collections.abc import AsyncGenerator, Sequence
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.base.errors import ModelRejected
from outlast.kernel.models.output_limits import TABLE, NamedLimit, WithinLimit, named_limit, output_limit
from outlast.kernel.models.protocol import Delta, ModelRequest, ModelSpec, TextDelta, TurnEnd, Usage


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        ("claude-sonnet-4-5-20250929", 64_000),
        ("claude-opus-4-1-20250805", 32_000),
        ("claude-opus-4-8", 128_000),
        ("anthropic/claude-opus-4.5", 64_000),
        ("gpt-5.1", 128_000),
        ("openai/GPT-5.1-chat-latest", 16_384),
        ("gpt-4.1-mini", 32_768),
        ("models/gemini-2.5-pro", 65_535),
        ("house-model-2", 16_384),
    ],
)
def test_known_models_have_their_own_limit_and_others_a_common_one(model: str, tokens: int) -> None:
    assert output_limit(model, 1_000_000) == tokens


def test_an_answer_leaves_half_of_the_context_to_the_conversation() -> None:
    assert output_limit("gpt-5.1", 8_000) == 4_000


def test_the_table_says_of_when_it_is() -> None:
    table = tomllib.loads(TABLE.read_text())
    assert date.fromisoformat(table["as_of"]) > date(2026, 1, 1)
    assert len(table["limits"]) >= 40
    assert all(name == name.lower() and 1_000 < most < 1_000_000 for name, most in table["limits"].items())


OPENAI = "max_tokens is too large: 100000. This model supports at most 16384 completion tokens, you provided 100000."
ANTHROPIC = "max_tokens: 200000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4-5"
GROQ = "`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens`"
DEEPSEEK = "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]"
GOOGLE = "a maxOutputTokens value of 100000 but the supported range is from 1 (inclusive) to 65537 (exclusive)."
OPENROUTER = "You requested up to 65536 tokens, but can only afford 1,234."
VLLM = (
    "'max_tokens' is too large: 16384. This model's maximum context length is 8192 tokens and your request has 20 "
    "input tokens (16384 > 8192 - 20)."
)
OLDER = (
    "This model's maximum context length is 8192 tokens. However, you requested 16500 tokens (116 in the messages, "
    "16384 in the completion)."
)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (OPENAI, NamedLimit(16_384, True)),
        (ANTHROPIC, NamedLimit(64_000, True)),
        (GROQ, NamedLimit(8_192, True)),
        (DEEPSEEK, NamedLimit(8_192, True)),
        (GOOGLE, NamedLimit(65_536, True)),
        (OPENROUTER, NamedLimit(1_234, False)),
        (VLLM, NamedLimit(8_172, False)),
        (OLDER, NamedLimit(8_076, False)),
        ("can only afford 3", None),
        ("The prompt is too long: 210000 tokens > 200000 maximum", None),
        ("top_k must be less than or equal to 1000", None),
        ("", None),
    ],
)
def test_the_limit_that_a_provider_names_is_found(said: str, expected: NamedLimit | None) -> None:
    assert named_limit(said, 200_000) == expected


def test_a_limit_that_is_not_lower_than_what_was_asked_for_is_none() -> None:
    assert named_limit(OPENAI, 16_384) is None


@given(st.text(max_size=2_000), st.integers(1, 1_000_000))
def test_any_text_is_read_and_never_names_more_than_was_asked(said: str, asked: int) -> None:
    found = named_limit(said, asked)
    assert found is None or 0 < found.tokens < asked


class Strict:
    """Refuses more than 8,192 tokens, and says so."""

    def __init__(self, said: str) -> None:
        self.asked: list[int] = []
        self.said = said

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Delta], None]:
        self.asked.append(request.max_output_tokens)
        if request.max_output_tokens > 8_192:
            raise ModelRejected(self.said)
        yield [TextDelta("Yes."), TurnEnd("stop", Usage())]


async def listen(model: WithinLimit, most: int) -> list[Delta]:
    spec = ModelSpec("m", "p", "some-model", max_output_tokens=most)
    return [delta async for batch in model.stream(ModelRequest(spec, "", ())) for delta in batch]


async def test_a_refused_length_is_asked_for_again_once_and_remembered() -> None:
    strict = Strict(GROQ)
    model = WithinLimit(strict)
    assert (await listen(model, 16_384))[0] == TextDelta("Yes.")
    await listen(model, 16_384)
    await listen(model, 4_000)
    assert strict.asked == [16_384, 8_192, 8_192, 4_000]


async def test_what_only_this_request_has_no_room_for_is_forgotten() -> None:
    strict = Strict(VLLM)
    model = WithinLimit(strict)
    await listen(model, 16_384)
    await listen(model, 16_384)
    assert strict.asked == [16_384, 8_172, 16_384, 8_172]


@pytest.mark.parametrize("said", ["This model does not exist.", OPENAI])
async def test_other_refusals_and_second_ones_are_raised(said: str) -> None:
    strict = Strict(said)
    with pytest.raises(ModelRejected):
        await listen(WithinLimit(strict), 100_000)
    assert len(strict.asked) == (2 if said is OPENAI else 1)

"""Costs come from a list that ships with the program."""

from outlast.kernel.models.prices import cost_usd
from outlast.kernel.models.protocol import Usage

USAGE = Usage(input_tokens=1_000_000, output_tokens=1_000_000)


def test_known_models_have_a_price() -> None:
    cost = cost_usd("openai", "", "gpt-4o", USAGE)
    assert cost is not None
    assert cost > 1


def test_cached_input_is_cheaper() -> None:
    plain = cost_usd("openai", "", "gpt-4o", Usage(1_000_000, 0))
    cached = cost_usd("openai", "", "gpt-4o", Usage(1_000_000, 0, cached_tokens=1_000_000))
    assert plain is not None
    assert cached is not None
    assert cached < plain


def test_a_base_url_tells_whose_prices_apply() -> None:
    assert cost_usd("openai-compatible", "https://api.groq.com/openai/v1", "llama-3.3-70b-versatile", USAGE)


def test_unknown_models_and_providers_have_none() -> None:
    assert cost_usd("openai", "", "no-such-model", USAGE) is None
    assert cost_usd("openai-compatible", "http://127.0.0.1:9/v1", "gpt-4o", USAGE) is None


def test_models_on_ones_own_machine_are_free() -> None:
    assert cost_usd("ollama", "http://127.0.0.1:11434/v1", "anything", USAGE) == 0.0
    assert cost_usd("demo", "", "demo", USAGE) == 0.0

"""The cost of a turn in US dollars, from a price list that ships with the program (no network)."""

from typing import Any, Final

from outlast.kernel.models.protocol import Usage

_PRICED_KINDS: Final = frozenset({"openrouter", "groq", "openai", "anthropic", "google"})
FREE_KINDS: Final = frozenset({"demo", "ollama", "vllm"})


def cost_usd(kind: str, base_url: str, model_name: str, usage: Usage) -> float | None:
    """Dollars for one turn, or None if the model's price is unknown.

    `kind` is the provider's; for `openai-compatible` the host in `base_url` determines whose prices apply. Kinds that
    run on the operator's own machines cost 0. Takes about 50 µs, the first call a third of a second to load the list.
    """
    if kind in FREE_KINDS:
        return 0.0
    try:
        import genai_prices
    except ImportError:
        return None
    tokens = genai_prices.Usage(
        input_tokens=usage.input_tokens, output_tokens=usage.output_tokens, cache_read_tokens=usage.cached_tokens
    )
    seller: dict[str, Any] = {"provider_id": kind} if kind in _PRICED_KINDS else {"provider_api_url": base_url}
    try:
        return float(genai_prices.calc_price(tokens, model_name, **seller).total_price)
    except (LookupError, ValueError):
        return None


def preload_prices() -> None:
    """Load the price list. Blocks for a third of a second: call it in a thread."""
    cost_usd("openai", "", "gpt-4o", Usage(1, 1))

"""The example configuration for screens, `examples/screens.toml`."""

from pathlib import Path

from outlast.kernel.settings.load import load_settings


def test_the_example_has_the_four_models_with_their_credits_and_eyes() -> None:
    settings = load_settings(Path("examples/screens.toml"), environ={})
    told = [(model.id, model.provider, model.vision, model.credits) for model in settings.models]
    assert told == [
        ("x-ai/grok-4.1-fast:free", "openrouter", False, 1),
        ("openai/gpt-5.1", "openrouter", True, 2),
        ("google/gemini-3-pro-preview", "openrouter", True, 3),
        ("anthropic/claude-opus-4.5", "openrouter", True, 5),
    ]
    assert settings.default_model == "x-ai/grok-4.1-fast:free"
    assert settings.credits.default_plan == "starter"

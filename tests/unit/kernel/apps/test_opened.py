"""What an app is given when it is opened."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from outlast.kernel.apps.opened import Opening
from outlast.kernel.models.settings import ProviderSettings
from outlast.kernel.settings import Settings


def test_no_log_shows_the_key_of_a_provider_whose_variable_follows_from_its_kind() -> None:
    settings = Settings(providers={"groq": ProviderSettings("groq"), "own": ProviderSettings("vllm", "", "OWN_KEY")})
    environment = {"GROQ_API_KEY": "gsk-secret-of-groq", "OWN_KEY": "sk-secret-of-ours"}
    opening: Any = SimpleNamespace(settings=settings, environment=environment)
    shown = Opening.known_secrets(opening).hide(b"gsk-secret-of-groq and sk-secret-of-ours")
    assert b"secret" not in shown

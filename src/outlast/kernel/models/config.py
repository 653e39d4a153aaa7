"""What the configuration says about providers, as the catalog takes it."""

from dataclasses import dataclass, field
from typing import Final

from outlast.kernel.models.settings import ProviderSettings

DEFAULT_BASE_URLS: Final = {
    "openrouter": "https://openrouter.ai/api/v1",
    "groq": "https://api.groq.com/openai/v1",
    "ollama": "http://127.0.0.1:11434/v1",
    "vllm": "http://127.0.0.1:8000/v1",
}

DEFAULT_KEY_ENVS: Final = {
    "openrouter": "OPENROUTER_API_KEY",
    "groq": "GROQ_API_KEY",
    "openai": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
    "google": "GEMINI_API_KEY",
}


@dataclass(frozen=True, slots=True)
class ProviderConfig(ProviderSettings):
    """One `[providers.<name>]` table with its name. Empty `base_url` and `api_key_env` mean the kind's own; no
    `api_key_env` at all means no key is sent."""

    name: str = field(kw_only=True)

    @property
    def url(self) -> str:
        """The base URL without a trailing slash, empty where the vendor's SDK knows it."""
        return (self.base_url or DEFAULT_BASE_URLS.get(self.kind, "")).rstrip("/")

    @property
    def key_env(self) -> str:
        """The environment variable that holds the key, empty for none."""
        return self.api_key_env or DEFAULT_KEY_ENVS.get(self.kind, "")

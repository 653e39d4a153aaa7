"""What the configuration says about providers, as the catalog takes it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from outlast.base.settings.tables import SendReasoning

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
class ProviderConfig:
    """One `[providers.<name>]` table (`ProviderSettings`) with its name.

    `kind`: openai-compatible, openrouter, groq, ollama, vllm, openai, anthropic, google, demo. Empty `base_url` and
    `api_key_env` mean the kind's own; no `api_key_env` at all means no key is sent. The three time-outs are in seconds:
    to connect, to the first byte of the answer, between two reads of it. `headers` and `extra_body` are sent along as
    they are, `max_tokens_field` names the wire field that bounds the output (openai-compatible kinds), `send_reasoning`
    says whether models get their earlier thinking back, and `delta_delay_s` is the demo's pause between words.
    """

    name: str
    kind: str
    base_url: str = ""
    api_key_env: str = ""
    connect_timeout_s: float = 10.0
    first_token_timeout_s: float = 120.0
    token_timeout_s: float = 60.0
    headers: Mapping[str, str] = field(default_factory=dict)
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    max_tokens_field: str = "max_tokens"
    send_reasoning: SendReasoning = "auto"
    delta_delay_s: float = 0.02

    @property
    def url(self) -> str:
        """The base URL without a trailing slash, empty where the vendor's SDK knows it."""
        return (self.base_url or DEFAULT_BASE_URLS.get(self.kind, "")).rstrip("/")

    @property
    def key_env(self) -> str:
        """The environment variable that holds the key, empty for none."""
        return self.api_key_env or DEFAULT_KEY_ENVS.get(self.kind, "")

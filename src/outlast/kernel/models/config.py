"""What the configuration says about providers and models, as the catalog takes it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from outlast.kernel.models.protocol import AS_USUAL, Reasoning, SendReasoning

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
    """One `[providers.<name>]` table.

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
    first_byte_timeout_s: float = 120.0
    between_tokens_timeout_s: float = 60.0
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


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """One `[[models]]` table. `credits` are charged per run; `max_output_tokens` 0 means the shipped table's, no
    `send_reasoning` the provider's."""

    id: str
    provider: str
    name: str
    vision: bool = False
    credits: int = 1
    default: bool = False
    context_tokens: int = 128_000
    max_output_tokens: int = 0
    label: str = ""
    send_reasoning: SendReasoning | None = None
    reasoning: Reasoning = AS_USUAL

"""Settings of models, their providers and the embedder."""

from collections.abc import Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Any, Final, Literal

from outlast.base.records import dataclass
from outlast.base.settings.fields import no_entries, setting

ProviderKind = Literal[
    "openai-compatible", "openrouter", "groq", "ollama", "vllm", "openai", "anthropic", "google", "demo"
]
SendReasoning = Literal["auto", "never"]
Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
Summary = Literal["auto", "concise", "detailed"]
UNKNOWN_MODEL_TOKENS: Final = 16_384  # longest answer of a model that no table has
_DEFAULT_BASE_URLS: Final = {
    "openrouter": "https://openrouter.ai/api/v1",
    "groq": "https://api.groq.com/openai/v1",
    "ollama": "http://127.0.0.1:11434/v1",
    "vllm": "http://127.0.0.1:8000/v1",
}
_DEFAULT_KEY_ENVS: Final = {
    "openrouter": "OPENROUTER_API_KEY",
    "groq": "GROQ_API_KEY",
    "openai": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
    "google": "GEMINI_API_KEY",
}


@dataclass(frozen=True, slots=True)
class ProviderSettings:
    """One [providers.<name>] table: a service that serves models."""

    kind: ProviderKind = setting("What the service speaks (default: the name of the table, if it is a kind).")
    base_url: str = setting("Address of the service; if empty, the kind's default.", "")
    api_key_env: str = setting(
        "Name of the environment variable with the key; if empty, the kind's default, or no key.", ""
    )
    connect_timeout_s: float = setting("Longest wait for a connection.", 10.0, unit="seconds", least=0.01, most=600)
    first_token_timeout_s: float = setting(
        "Longest wait for the first byte of an answer.", 120.0, unit="seconds", least=0.01, most=3600
    )
    token_timeout_s: float = setting(
        "Longest wait between two pieces of an answer.", 60.0, unit="seconds", least=0.01, most=3600
    )
    headers: Mapping[str, str] = setting("Headers sent along (openai-compatible kinds).", factory=no_entries)
    extra_body: Mapping[str, Any] = setting(
        "Fields added to each request's JSON (openai-compatible kinds).", factory=no_entries
    )
    max_tokens_field: str = setting("Name of the request field that bounds the answer.", "max_tokens")
    send_reasoning: SendReasoning = setting(
        "Return their earlier reasoning to models (auto: as the provider requires; never).", "auto"
    )
    delta_delay_s: float = setting("Pause between two words of the demo model.", 0.02, unit="seconds", least=0, most=60)

    @property
    def url(self) -> str:
        """The base URL without a trailing slash, empty if the vendor's SDK knows it."""
        return (self.base_url or _DEFAULT_BASE_URLS.get(self.kind, "")).rstrip("/")

    @property
    def key_env(self) -> str:
        """The environment variable that holds the key, empty for none."""
        return self.api_key_env or _DEFAULT_KEY_ENVS.get(self.kind, "")


@dataclass(frozen=True, slots=True)
class ProviderConfig(ProviderSettings):
    """One `[providers.<name>]` table with its name, as the catalog takes it."""

    name: str = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class ReasoningSettings:
    """The reasoning of a model; settings that are not given are left to the provider."""

    effort: Effort | None = setting("Effort of reasoning, if the model supports it.", None)
    summary: Summary | None = setting("Request a summary of its reasoning (kind openai).", None)
    budget_tokens: int | None = setting(
        "Most reasoning tokens (kinds anthropic, google, openrouter).", None, unit="tokens", least=1
    )


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """One [[models]] table: a model that people can choose."""

    id: str = setting("Id by which users and programs choose it.")
    provider: str = setting("Name of the [providers.<name>] table that serves it.")
    name: str = setting("The provider's name for it.")
    label: str = setting("Name in the model selector; if empty, the id.", "")
    vision: bool = setting("It understands images.", False)
    credits: int = setting("Price of one run.", 1, unit="credits", least=0)
    context_tokens: int = setting("Largest input of one request.", 128_000, unit="tokens", least=1000)
    max_output_tokens: int = setting(
        "Longest answer of one step, with reasoning; 0 for the model's limit if Outlast knows it, else "
        f"{UNKNOWN_MODEL_TOKENS:,}.",
        0,
        unit="tokens",
        least=0,
    )
    reasoning: ReasoningSettings = setting("Settings of its reasoning.", factory=ReasoningSettings)
    send_reasoning: SendReasoning | None = setting(
        "Return its earlier reasoning to this model. Default: the provider's setting.", None
    )


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    """An embedder for search; without one, search uses words alone."""

    url: str = setting("Address of an OpenAI-compatible /embeddings service; empty for none.", "")
    model: str = setting("Name of the embedding model.", "")
    api_key_env: str = setting("Environment variable with its key; empty for no key.", "")
    dimensions: int = setting("Requested length of its vectors; 0 for the model's default.", 0, unit="numbers", least=0)
    batch: int = setting("Texts in one request.", 64, unit="texts", least=1, most=2048)
    timeout_s: float = setting("Longest wait for one request.", 30, unit="seconds", least=0.1)


DEMO_PROVIDERS: Mapping[str, ProviderSettings] = MappingProxyType({"demo": ProviderSettings(kind="demo")})
DEMO_MODELS: tuple[ModelSettings, ...] = (
    ModelSettings(
        id="demo",
        provider="demo",
        name="demo",
        label="Demo (recorded answers, real tools)",
        credits=0,
        context_tokens=32_000,
        max_output_tokens=4096,
    ),
)

"""The configured models and the connections to their providers."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from urllib.parse import urlsplit

import anyio
import anyio.to_thread

from outlast.base.clock import Clock, SystemClock
from outlast.base.errors import InvalidSetting, ModelKeyRefused, UnknownModel
from outlast.kernel.models.api_key import ApiKey
from outlast.kernel.models.output_limits import WithinLimit, output_limit
from outlast.kernel.models.prices import FREE_KINDS, preload_prices
from outlast.kernel.models.protocol import LanguageModel, ModelSpec
from outlast.kernel.models.providers import is_installed, open_provider, preload
from outlast.kernel.models.providers.connections import Connections
from outlast.kernel.models.settings import DEMO_MODELS, ModelSettings, ProviderConfig


class ModelCatalog:
    """Configured models by id; adapters by provider name, opened on first use and closed by `aclose`.

    `secret` looks up an environment variable (None when unset). `adapters` replace the adapters of their providers (a
    scripted model in tests, a program's own). Connections and keys are kept in memory only.

    With no models configured, the catalog has the demo model. A model whose kind needs a package that is not installed
    is left out; so the catalog can be empty, and its errors then say how to connect a model.

    Raises `InvalidSetting` for an unusable provider, a model whose provider is not configured, a duplicate id, or an
    unknown default.
    """

    def __init__(
        self,
        providers: Iterable[ProviderConfig],
        models: Iterable[ModelSettings],
        *,
        secret: Callable[[str], str | None],
        default_model: str = "",
        clock: Clock | None = None,
        adapters: Mapping[str, LanguageModel] | None = None,
    ) -> None:
        self._secret = secret
        self._clock = clock or SystemClock()
        self._providers = {provider.name: provider for provider in providers}
        self._specs: dict[str, ModelSpec] = {}
        self._open: dict[str, LanguageModel] = dict(adapters or {})
        self._connections = Connections()
        configured = tuple(models)
        if not configured:
            self._providers.setdefault("demo", ProviderConfig("demo", name="demo"))
            configured = DEMO_MODELS
        for provider in self._providers.values():
            _require_valid(provider)
        for model in configured:
            self._add(model)
        # Chosen before models are left out: the configuration's order decides, independent of the installed packages.
        self._default = self._choose_default(configured, default_model)
        for model in configured:
            if model.provider not in self._open and not is_installed(self._providers[model.provider].kind):
                del self._specs[model.id]

    def get(self, model_id: str) -> ModelSpec:
        """The model with this id. Raises `UnknownModel`, which names the known ids."""
        if not self._specs:
            hint = (
                "Ask the operator to add a provider and a model to the configuration (/docs/guides/connect-a-model/), "
                "or to install outlast-demo, which answers without a key."
            )
            raise UnknownModel("No model is connected to this server.", hint=hint, known=[])
        spec = self._specs.get(model_id)
        if spec is None:
            known = sorted(self._specs)
            raise UnknownModel(
                f"There is no model {model_id[:120]!r} here. Configured: {', '.join(known)}.",
                model=model_id[:120],
                known=known,
            )
        return spec

    @property
    def default(self) -> ModelSpec:
        """The model of runs that name none: `default_model`, else the first that is configured. Raises `UnknownModel`
        when it was left out."""
        return self.get(self._default.id)

    def list(self) -> tuple[ModelSpec, ...]:
        """All models, in the order of the configuration."""
        return tuple(self._specs.values())

    def missing_key(self, provider: str) -> str | None:
        """The environment variable that lacks this provider's key, or None if the key is set or not needed."""
        env = self._providers[provider].key_env
        return env if env and not self._secret(env) else None

    def language_model(self, provider: str) -> LanguageModel:
        """The adapter for a provider, opened on the first call (needs a running event loop).

        Raises `ModelKeyRefused`, naming the environment variable, when the key is missing; `InvalidSetting` when the
        provider is not configured or its optional package is not installed.
        """
        if provider not in self._open:
            config = self._providers.get(provider)
            if config is None:
                raise InvalidSetting(
                    f"There is no provider {provider!r} in the configuration.", setting=f"providers.{provider}"
                )
            self._open[provider] = WithinLimit(open_provider(config, self._key(config), self._connections, self._clock))
        return self._open[provider]

    async def warm_up(self) -> None:
        """Load prices, and the SDKs of the providers whose key is set, in a thread. Otherwise the first turns load them
        on the event loop. Optional, safe to cancel and to repeat."""
        kinds = {config.kind for name, config in self._providers.items() if self.missing_key(name) is None}
        if kinds - FREE_KINDS:
            await anyio.to_thread.run_sync(preload_prices, abandon_on_cancel=True)
        for kind in sorted(kinds):
            await anyio.to_thread.run_sync(preload, kind, abandon_on_cancel=True)

    async def aclose(self) -> None:
        """Close every connection. Running streams raise `ModelCut`. Safe to repeat."""
        self._open.clear()
        await self._connections.aclose()

    def _key(self, config: ProviderConfig) -> ApiKey:
        if not config.key_env:
            return ApiKey("")
        value = self._secret(config.key_env)
        if not value or not value.strip():
            raise ModelKeyRefused(
                f"The provider {config.name!r} needs a key, and the environment variable {config.key_env} is not set.",
                hint=f"Set {config.key_env} where the server is started, and start it again.",
                provider=config.name,
                api_key_env=config.key_env,
            )
        return ApiKey(value)

    def _add(self, model: ModelSettings) -> None:
        if model.provider not in self._providers:
            raise InvalidSetting(
                f"The model {model.id!r} names the provider {model.provider!r}, which is not configured.",
                hint=f"Add a [providers.{model.provider}] table, or name one of: {', '.join(sorted(self._providers))}.",
                setting="models.provider",
            )
        provider = self._providers[model.provider]
        if model.id in self._specs:
            raise InvalidSetting(f"The model id {model.id!r} appears twice.", setting="models.id")
        limit = model.max_output_tokens or output_limit(model.name, model.context_tokens)
        if (model.reasoning.budget_tokens or 0) >= limit:
            raise InvalidSetting(
                f"The model {model.id!r} can reason for {model.reasoning.budget_tokens} tokens, but write {limit}.",
                hint="Reasoning is part of the answer: lower reasoning.budget_tokens, or raise max_output_tokens.",
                setting="models.reasoning.budget_tokens",
            )
        values = {field.name: getattr(model, field.name) for field in fields(model)}
        values["max_output_tokens"] = limit
        values["label"] = model.label or model.id
        values["send_reasoning"] = model.send_reasoning or provider.send_reasoning
        self._specs[model.id] = ModelSpec(**values)

    def _choose_default(self, models: Sequence[ModelSettings], default_model: str) -> ModelSpec:
        chosen = self._specs.get(default_model or models[0].id)
        if chosen is None:
            raise InvalidSetting(
                f"default_model is {default_model!r}, which is not among the configured models.",
                hint=f"Choose one of: {', '.join(sorted(self._specs))}.",
                setting="default_model",
            )
        return chosen


def _require_valid(provider: ProviderConfig) -> None:
    if provider.url and not _is_plain_http(provider.url):
        raise InvalidSetting(
            f"The provider {provider.name!r} has a base_url that is not a plain http or https address.",
            hint="Write it like https://host/v1, and put the key into the variable that api_key_env names.",
            setting=f"providers.{provider.name}.base_url",
        )
    if provider.kind == "openai-compatible" and not provider.url:
        raise InvalidSetting(
            f"The provider {provider.name!r} is openai-compatible and has no base_url.",
            hint="Set base_url to the address that /chat/completions is appended to.",
            setting=f"providers.{provider.name}.base_url",
        )


def _is_plain_http(url: str) -> bool:
    """True if the URL is http or https with a host, and without credentials, which logs would show."""
    parts = urlsplit(url)
    return parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc

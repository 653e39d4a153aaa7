"""One file per adapter, and the table from a provider's kind to its adapter.  `openai_compatible` is our own thin
adapter (OpenRouter, Groq, Ollama, vLLM and other chat completions servers); `pydantic_ai_direct` carries the vendors'
own formats (OpenAI Responses, Anthropic, Google) and is loaded only when configured; `demo` is in the package
outlast-demo. A new provider: one file here and one line in `_OPENERS`.
"""

from collections.abc import Collection, Mapping
from contextlib import suppress
from importlib import import_module
from importlib.metadata import EntryPoint
from types import MappingProxyType
from typing import Final

from outlast.base.clock import Clock
from outlast.base.errors import InvalidSetting
from outlast.base.plugins import plugins
from outlast.kernel.models.api_key import ApiKey
from outlast.kernel.models.protocol import LanguageModel
from outlast.kernel.models.providers.connections import Connections
from outlast.kernel.models.settings import ProviderConfig

_HERE: Final = "outlast.kernel.models.providers"
_CHAT_COMPLETIONS: Final = f"{_HERE}.openai_compatible:OpenAICompatible"
_VENDOR_SDK: Final = f"{_HERE}.pydantic_ai_direct:PydanticAIDirect"
_OPENERS: Final[Mapping[str, str]] = MappingProxyType(
    dict.fromkeys(("openai-compatible", "openrouter", "groq", "ollama", "vllm"), _CHAT_COMPLETIONS)
    | dict.fromkeys(("openai", "anthropic", "google"), _VENDOR_SDK)
)
"""The function that opens a provider of this kind, imported when the first is opened: called with its configuration,
key, the connections and a clock."""
GROUP: Final = "outlast.model_kinds"
"""Entry points of other packages, for kinds that are not in the table."""


def preload(kind: str) -> None:
    """Import the modules of the first turn of this kind, and build the SDK's models, which the SDK would otherwise do
    at its first answer, on the event loop; takes seconds of CPU for the vendors' SDKs. Blocks: call it in a thread.
    Missing packages are ignored; the first use reports them."""
    if _OPENERS.get(kind) != _VENDOR_SDK:
        return
    for module in (_VENDOR_SDK.partition(":")[0], f"pydantic_ai.models.{kind}", f"pydantic_ai.providers.{kind}"):
        with suppress(ImportError):
            import_module(module)
    _build_models(f"{kind}.")


def _build_models(package: str) -> None:
    from pydantic import BaseModel, PydanticUserError

    waiting = [BaseModel]
    while waiting:
        model = waiting.pop()
        waiting += model.__subclasses__()
        if model.__module__.startswith(package) and not model.__pydantic_complete__:
            with suppress(PydanticUserError):  # the first use reports it, if there is one
                model.model_rebuild(raise_errors=False)


def open_provider(config: ProviderConfig, key: ApiKey, connections: Connections, clock: Clock) -> LanguageModel:
    """The adapter for a provider of an installed kind. Connects to nothing yet. Raises `InvalidSetting` if the extra
    that it needs is missing."""
    try:
        opener = next(iter(_entry_points(config.kind))).load()
        model: LanguageModel = opener(config, key, connections, clock)
        return model
    except ImportError as error:
        raise InvalidSetting(
            f"The provider {config.name!r} of kind {config.kind!r} needs packages that are not installed "
            f"({error.name or error}).",
            hint="Install them in Outlast's folder: pip install -e '.[providers]'",
            setting=f"providers.{config.name}.kind",
        ) from None


def is_installed(kind: str) -> bool:
    """True if models of this kind can be opened; checks the installed packages for kinds that need one."""
    return bool(_entry_points(kind))


def _entry_points(kind: str) -> Collection[EntryPoint]:
    own = _OPENERS.get(kind)
    return [EntryPoint(kind, own, GROUP)] if own else plugins(GROUP).select(name=kind)

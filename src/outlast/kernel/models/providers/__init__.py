"""One file per way of talking to a provider, and the table that says which kind uses which.

`openai_compatible` is our own thin adapter (OpenRouter, Groq, Ollama, vLLM and whatever speaks chat completions);
`pydantic_ai_direct` carries the vendors' own formats (OpenAI Responses, Anthropic, Google) and is loaded only when
configured; `demo` is in the package outlast-demo. A new provider: one file here and one line in `_OPENERS`.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType
from typing import Final

from outlast.base.clock import Clock
from outlast.base.settings import ModelSettings
from outlast.kernel.models.config import ProviderConfig
from outlast.kernel.models.keys import ApiKey
from outlast.kernel.models.protocol import LanguageModel
from outlast.kernel.models.providers.connections import Connections

DEMO_PROVIDER: Final = ProviderConfig(name="demo", kind="demo")
DEMO_MODEL: Final = ModelSettings(
    id="demo",
    provider="demo",
    name="demo",
    credits=0,
    context_tokens=32_000,
    max_output_tokens=4_096,
    label="Demo (recorded answers, real tools)",
)

_Opener = Callable[[ProviderConfig, ApiKey, Connections, Clock], LanguageModel]


def _openai_compatible(config: ProviderConfig, key: ApiKey, connections: Connections, clock: Clock) -> LanguageModel:
    from outlast.kernel.models.providers.openai_compatible import OpenAICompatible

    return OpenAICompatible(config, key, connections, clock)


def _pydantic_ai(config: ProviderConfig, key: ApiKey, connections: Connections, clock: Clock) -> LanguageModel:
    from outlast.kernel.models.providers.pydantic_ai_direct import open_direct

    return open_direct(config, key, connections, clock)


_OPENERS: Final[Mapping[str, _Opener]] = MappingProxyType(
    {
        "openai-compatible": _openai_compatible,
        "openrouter": _openai_compatible,
        "groq": _openai_compatible,
        "ollama": _openai_compatible,
        "vllm": _openai_compatible,
        "openai": _pydantic_ai,
        "anthropic": _pydantic_ai,
        "google": _pydantic_ai,
    }
)

GROUP: Final = "outlast.model_kinds"
PACKAGED: Final = frozenset({"demo"})
"""Kinds that another package brings, as an entry point of that group; without it there is no such model."""
KINDS: Final = frozenset(_OPENERS) | PACKAGED

_HERE: Final = "outlast.kernel.models.providers"
_DIRECT: Final = (
    "pydantic_ai.direct",
    f"{_HERE}.pydantic_ai_clients",
    f"{_HERE}.pydantic_ai_errors",
    f"{_HERE}.pydantic_ai_messages",
)
_HEAVY: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        kind: (*_DIRECT, f"pydantic_ai.models.{kind}", f"pydantic_ai.providers.{kind}")
        for kind in ("openai", "anthropic", "google")
    }
)


def preload(kind: str) -> None:
    """Imports what the first turn of this kind would import, and builds the SDK's models, which it would do with its
    first answer, on the event loop; seconds of CPU for the vendors' SDKs. Blocks: call it in a thread. Packages that
    are missing stay missing; the first use says so."""
    for module in _HEAVY.get(kind, ()):
        with suppress(ImportError):
            import_module(module)
    if kind in _HEAVY:
        _build_models(f"{kind}.")


def _build_models(package: str) -> None:
    from pydantic import BaseModel, PydanticUserError

    waiting = [BaseModel]
    while waiting:
        model = waiting.pop()
        waiting += model.__subclasses__()
        if model.__module__.startswith(package) and not model.__pydantic_complete__:
            with suppress(PydanticUserError):  # the first use says so, if there is one
                model.model_rebuild(raise_errors=False)


def open_provider(config: ProviderConfig, key: ApiKey, connections: Connections, clock: Clock) -> LanguageModel:
    """The adapter for a provider of an installed kind. Connects to nothing yet."""
    opener = _OPENERS.get(config.kind) or _packaged(config.kind).load()
    model: LanguageModel = opener(config, key, connections, clock)
    return model


def is_installed(kind: str) -> bool:
    """Whether models of this kind can be opened; looks at the installed packages for kinds that need one."""
    return kind not in PACKAGED or bool(entry_points(group=GROUP, name=kind))


def _packaged(kind: str) -> EntryPoint:
    return next(iter(entry_points(group=GROUP, name=kind)))

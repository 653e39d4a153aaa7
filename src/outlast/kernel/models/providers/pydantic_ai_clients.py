"""The vendors' SDK clients: one per provider, retries off, closed with the catalog. Imported only with the extra."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, Final

import httpx2
from pydantic import TypeAdapter
from pydantic_ai.models import Model, create_async_httpx2_client

from outlast.kernel.models.config import ProviderConfig
from outlast.kernel.models.keys import ApiKey

MakeModel = Callable[[str], Model[Any]]
Close = Callable[[], Awaitable[None]]

# The HTTP responses opened by the request that is being opened in this task. Google's SDK nests generators that break
# their connection only when they are collected, so responses are closed here, whatever an SDK does.
_OPENED: Final[ContextVar[list[httpx2.Response] | None]] = ContextVar("opened_responses", default=None)


@contextmanager
def collecting(responses: list[httpx2.Response]) -> Iterator[None]:
    """Within it, every response that a client of this module opens is added to `responses`."""
    token = _OPENED.set(responses)
    try:
        yield
    finally:
        _OPENED.reset(token)


async def close_all(responses: list[httpx2.Response]) -> None:
    """Breaks the connections of those not read to their end."""
    for response in responses:
        await response.aclose()


async def _collect(response: httpx2.Response) -> None:
    responses = _OPENED.get()
    if responses is not None:
        responses.append(response)


def open_client(config: ProviderConfig, key: ApiKey) -> tuple[MakeModel, Close]:
    """What makes a model of this provider by name, and what closes its connections."""
    read_s = max(config.first_token_timeout_s, config.token_timeout_s)
    http = create_async_httpx2_client(timeout=httpx2.Timeout(read_s, connect=config.connect_timeout_s))
    http.event_hooks = {"response": [_collect]}
    openers = {"openai": _openai, "anthropic": _anthropic, "google": _google}
    return openers[config.kind](config, key, http), http.aclose


@cache
def prepare(kind: str) -> None:
    """Build the shapes of answers, which OpenAI's SDK would do at the first one: half a second in which the event loop
    stands still. Blocking: call it in a thread. Again: nothing."""
    if kind == "openai":
        from openai.types.responses import Response, ResponseStreamEvent

        Response.model_rebuild(force=True)
        TypeAdapter(ResponseStreamEvent)


def _options(config: ProviderConfig, key: ApiKey, http: httpx2.AsyncClient) -> dict[str, Any]:
    """What the SDKs of OpenAI and Anthropic call by the same names."""
    return {
        "api_key": key.reveal(),
        "base_url": config.url or None,
        "http_client": http,
        "max_retries": 0,
        "timeout": http.timeout,
    }


def _openai(config: ProviderConfig, key: ApiKey, http: httpx2.AsyncClient) -> MakeModel:
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    client = AsyncOpenAI(**_options(config, key, http))
    provider = OpenAIProvider(openai_client=client)
    return lambda name: OpenAIResponsesModel(name, provider=provider)


def _anthropic(config: ProviderConfig, key: ApiKey, http: httpx2.AsyncClient) -> MakeModel:
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    from outlast.kernel.models.providers.pydantic_ai_anthropic import ServerToolModel

    client = AsyncAnthropic(**_options(config, key, http))
    provider = AnthropicProvider(anthropic_client=client)
    kind = ServerToolModel if config.extra_body.get("tools") else AnthropicModel
    return lambda name: kind(name, provider=provider)


def _google(config: ProviderConfig, key: ApiKey, http: httpx2.AsyncClient) -> MakeModel:
    from pydantic_ai.providers.google import GoogleProvider

    from outlast.kernel.models.providers.pydantic_ai_google import PartialCallModel

    # The SDK retries nothing unless it is given retry options
    provider = GoogleProvider(api_key=key.reveal(), base_url=config.url or None, http_client=http)
    return lambda name: PartialCallModel(name, provider=provider)

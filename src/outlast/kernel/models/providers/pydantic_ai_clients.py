"""The vendors' SDK clients: one per provider, without retries, closed with the catalog.

Imported only where the optional extra is installed.
"""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, Final, get_args

import httpx2
from pydantic import BaseModel
from pydantic_ai.models import Model, create_async_httpx2_client

from outlast.kernel.models.api_key import ApiKey
from outlast.kernel.models.settings import ProviderConfig

MakeModel = Callable[[str], Model[Any]]
Close = Callable[[], Awaitable[None]]

# The HTTP responses that this task has opened. Google's SDK nests generators and breaks its connection only when they
# are garbage collected, so the caller closes the responses of every SDK itself.
_OPENED: Final[ContextVar[list[httpx2.Response] | None]] = ContextVar("opened_responses", default=None)


@contextmanager
def collecting(responses: list[httpx2.Response]) -> Iterator[None]:
    """Append every response that a client of this module opens inside the block."""
    token = _OPENED.set(responses)
    try:
        yield
    finally:
        _OPENED.reset(token)


async def close_responses(responses: list[httpx2.Response]) -> None:
    """Close responses. The connection of a response that was not read to its end is cut."""
    for response in responses:
        await response.aclose()


async def _collect(response: httpx2.Response) -> None:
    responses = _OPENED.get()
    if responses is not None:
        responses.append(response)


def open_client(config: ProviderConfig, key: ApiKey) -> tuple[MakeModel, Close]:
    """A function that makes a model of this provider by its name, and one that closes the connections. Raises
    `ImportError` where the vendor's SDK is not installed."""
    read_s = max(config.first_token_timeout_s, config.token_timeout_s)
    http = create_async_httpx2_client(timeout=httpx2.Timeout(read_s, connect=config.connect_timeout_s))
    http.event_hooks = {"response": [_collect]}
    connect = {"openai": _openai, "anthropic": _anthropic, "google": _google}[config.kind]
    return connect(config, key, http), http.aclose


@cache
def build_response_types(kind: str) -> None:
    """Build the Pydantic models of OpenAI's answers, once. Otherwise its SDK builds them for the first answer, on the
    event loop, in half a second. Blocking: call it in a thread."""
    if kind == "openai":
        from openai.types.responses import Response, ResponseOutputItem, ResponseStreamEvent

        made: list[type[BaseModel]] = [*_members(ResponseOutputItem), Response, *_members(ResponseStreamEvent)]
        for model in made:
            model.model_rebuild()


def _members(union: Any) -> tuple[type[BaseModel], ...]:
    """The models of an annotated union."""
    return get_args(get_args(union)[0])


def _options(config: ProviderConfig, key: ApiKey, http: httpx2.AsyncClient) -> dict[str, Any]:
    """Options that have the same names in the SDKs of OpenAI and Anthropic."""
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
    model = ServerToolModel if config.extra_body.get("tools") else AnthropicModel
    return lambda name: model(name, provider=provider)


def _google(config: ProviderConfig, key: ApiKey, http: httpx2.AsyncClient) -> MakeModel:
    from pydantic_ai.providers.google import GoogleProvider

    from outlast.kernel.models.providers.pydantic_ai_google import PartialCallModel

    # The SDK retries nothing unless it is given retry options
    provider = GoogleProvider(api_key=key.reveal(), base_url=config.url or None, http_client=http)
    return lambda name: PartialCallModel(name, provider=provider)

"""OpenAI Responses, Anthropic and Google in their own formats, through `pydantic_ai.direct`.

An optional extra, loaded when the first such provider is opened: it brings three vendors' SDKs. Nothing outside the
`pydantic_ai_…` files imports it. Retries are switched off in all of them: workers retry, guided by the error's branch.
"""

from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import anyio

from outlast.base.clock import Clock
from outlast.base.errors import InvalidSetting
from outlast.core.models import failures
from outlast.core.models.config import ProviderConfig
from outlast.core.models.failures import Peer
from outlast.core.models.keys import ApiKey
from outlast.core.models.prices import cost_usd
from outlast.core.models.protocol import Delta, LanguageModel, ModelRequest, TurnEnd
from outlast.core.models.providers.connections import Connections

if TYPE_CHECKING:
    from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
    from pydantic_ai.settings import ModelSettings

    from outlast.core.models.providers.pydantic_ai_messages import EventReader


def open_direct(config: ProviderConfig, key: ApiKey, connections: Connections, clock: Clock) -> LanguageModel:
    """The adapter for a provider of kind openai, anthropic or google. `InvalidSetting` when the extra is missing."""
    try:
        from outlast.core.models.providers import pydantic_ai_clients

        make_model, close = pydantic_ai_clients.open_client(config, key)
    except ImportError as error:
        raise InvalidSetting(
            f"The provider {config.name!r} of kind {config.kind!r} needs packages that are not installed "
            f"({error.name or error}).",
            hint="Install them: pip install 'outlast[providers]'",
            setting=f"providers.{config.name}.kind",
        ) from None
    connections.on_close(close)
    return PydanticAIDirect(config, key, make_model)


class PydanticAIDirect:
    """A `LanguageModel` for one provider; `make_model` gives `pydantic_ai`'s object for a model name."""

    def __init__(
        self, config: ProviderConfig, key: ApiKey, make_model: "Callable[[str], Model[Any]]"
    ) -> None:
        self._config = config
        self._key = key
        self._make_model = make_model

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Delta], None]:
        """See `LanguageModel.stream`. One batch per event of the vendor's SDK."""
        from pydantic_ai.direct import model_request_stream

        from outlast.core.models.providers.pydantic_ai_clients import close_all, collecting
        from outlast.core.models.providers.pydantic_ai_messages import EventReader, to_messages

        watch = _Watch(
            Peer(self._config.name, request.model.name, self._key, self._config.key_env), self._config
        )
        async with AsyncExitStack() as stack:
            responses: list[Any] = []
            stack.push_async_callback(close_all, responses)
            with watch.waiting(), collecting(responses):
                opening = model_request_stream(
                    self._make_model(request.model.name),
                    to_messages(self._config.name, request),
                    model_settings=self._settings(request),
                    model_request_parameters=_parameters(request),
                    instrument=False,
                )
                stream = await stack.enter_async_context(opening)
            stack.push_async_callback(
                stream.cancel
            )  # breaks the connection at once; nothing after the natural end
            reader, events = EventReader(), aiter(stream)
            while True:
                with watch.waiting():
                    event = await anext(events, None)
                if event is None:
                    break
                watch.streaming = True
                if deltas := reader.read(event):
                    yield deltas
            missing = reader.calls.complete()
            yield [*missing, self._end(stream, watch.peer, reader)]

    def _end(self, stream: "StreamedResponse", peer: Peer, reader: "EventReader") -> TurnEnd:
        from outlast.core.models.providers.pydantic_ai_messages import to_finish, to_opaque, to_usage

        response = stream.get()
        if response.finish_reason == "content_filter":
            raise failures.policy_refused(peer, "the answer was stopped by the provider's filter.")
        if response.finish_reason == "error":  # Gemini's name for a tool call it could not write to its end
            raise failures.unreadable(peer, "an answer that it called malformed itself,")
        finish = to_finish(response.finish_reason)
        if finish is None:
            raise failures.cut(peer)
        usage = to_usage(response.usage)
        cost = cost_usd(self._config.kind, self._config.url, peer.model, usage)
        opaque = to_opaque(self._config.name, response)
        return TurnEnd(reader.calls.finish(finish), replace(usage, cost_usd=cost), opaque)

    def _settings(self, request: ModelRequest) -> "ModelSettings":
        settings: ModelSettings = {}
        if bound := request.max_output_tokens or request.model.max_output_tokens:
            settings["max_tokens"] = bound
        if request.temperature is not None:
            settings["temperature"] = request.temperature
        if self._config.headers:
            settings["extra_headers"] = dict(self._config.headers)
        if self._config.extra_body:
            settings["extra_body"] = dict(self._config.extra_body)
        if self._config.kind == "anthropic":
            settings["cache"] = True  # the others cache a stable prefix by themselves
        return settings


def _parameters(request: ModelRequest) -> "ModelRequestParameters":
    from pydantic_ai.models import ModelRequestParameters

    from outlast.core.models.providers.pydantic_ai_messages import to_tool

    return ModelRequestParameters(function_tools=[to_tool(tool) for tool in request.tools])


class _Watch:
    """`with watch.waiting():` goes around each wait for the provider: its time-out, and its errors in our tree."""

    def __init__(self, peer: Peer, config: ProviderConfig) -> None:
        self.peer = peer
        self.streaming = False
        self._config = config
        self._first_byte_by = anyio.current_time() + config.first_byte_timeout_s

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Raises `ModelTimeout` after the time-out that holds now, and `Model…` errors for the SDK's own."""
        from outlast.core.models.providers import pydantic_ai_errors

        seconds = (
            self._config.between_tokens_timeout_s
            if self.streaming
            else self._first_byte_by - anyio.current_time()
        )
        try:
            with anyio.fail_after(seconds):
                yield
        except TimeoutError:
            raise self._timed_out() from None
        except pydantic_ai_errors.KNOWN as error:
            raise pydantic_ai_errors.to_error(
                self.peer, self._config.url, error, streaming=self.streaming
            ) from None

    def _timed_out(self) -> Exception:
        if self.streaming:
            return failures.timed_out(self.peer, "the next token", self._config.between_tokens_timeout_s)
        return failures.timed_out(self.peer, "the first byte", self._config.first_byte_timeout_s)

"""OpenAI Responses, Anthropic and Google in their own formats, through `pydantic_ai.direct`.

Imported only with the extra `providers`, when the first such provider is opened: it brings three vendors' SDKs. Retries
are switched off in all of them: workers retry, guided by the error's branch.
"""

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import replace
from typing import Any

import anyio
import anyio.to_thread
from pydantic_ai.direct import model_request_stream
from pydantic_ai.models import ModelRequestParameters, StreamedResponse
from pydantic_ai.settings import ModelSettings

from outlast.base.clock import Clock
from outlast.base.errors import OutlastError
from outlast.kernel.models import failures
from outlast.kernel.models.api_key import ApiKey
from outlast.kernel.models.failures import Peer
from outlast.kernel.models.prices import cost_usd
from outlast.kernel.models.protocol import Delta, ModelRequest, TurnEnd, Usage, UsageDelta
from outlast.kernel.models.providers import pydantic_ai_clients as clients
from outlast.kernel.models.providers import pydantic_ai_errors
from outlast.kernel.models.providers.connections import Connections
from outlast.kernel.models.providers.pydantic_ai_messages import to_messages, to_opaque, to_tool
from outlast.kernel.models.providers.pydantic_ai_stream import EventReader, to_finish, to_usage
from outlast.kernel.models.settings import ProviderConfig, ReasoningSettings
from outlast.kernel.models.tool_choice import AUTO, REQUIRED


class PydanticAIDirect:
    """A `LanguageModel` for one provider of kind openai, anthropic or google. Raises `ImportError` where the SDK of the
    vendor is not installed."""

    def __init__(self, config: ProviderConfig, key: ApiKey, connections: Connections, _clock: Clock) -> None:
        self._config = config
        self._key = key
        self._make_model, close = clients.open_client(config, key)
        connections.on_close(close)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Delta], None]:
        """See `LanguageModel.stream`. One batch per event of the vendor's SDK."""
        await anyio.to_thread.run_sync(clients.build_response_types, self._config.kind)
        watch = _Watch(
            Peer(self._config.name, request.model.name, self._key, self._config.key_env, request.model.label),
            self._config,
        )
        async with AsyncExitStack() as stack:
            responses: list[Any] = []
            stack.push_async_callback(clients.close_responses, responses)
            with watch.waiting(), clients.collecting(responses):
                opening = model_request_stream(
                    self._make_model(request.model.name),
                    to_messages(self._config.name, request),
                    model_settings=self._settings(request),
                    model_request_parameters=ModelRequestParameters(
                        function_tools=[to_tool(tool) for tool in request.tools]
                    ),
                    instrument=False,
                )
                stream = await stack.enter_async_context(opening)
            stack.push_async_callback(stream.cancel)  # cuts the connection at once; does nothing after the normal end
            reader, events = EventReader(), aiter(stream)
            try:
                while True:
                    with watch.waiting():
                        event = await anext(events, None)
                        deltas = [] if event is None else reader.read(event)
                    if event is None:
                        break
                    watch.streaming = True
                    if deltas:
                        yield deltas
                yield [*reader.rest(stream.get().parts), self._end(stream, watch.peer, reader)]
            except OutlastError:
                if (usage := self._usage(stream, watch.peer)) is not None:
                    yield [UsageDelta(usage)]  # a failed turn is charged all the same
                raise

    def _usage(self, stream: StreamedResponse, peer: Peer) -> Usage | None:
        """The usage of the turn so far, or None if the provider has not reported it."""
        usage = to_usage(stream.get().usage)
        if usage == Usage():
            return None
        return replace(usage, cost_usd=cost_usd(self._config.kind, self._config.url, peer.model, usage))

    def _end(self, stream: StreamedResponse, peer: Peer, reader: EventReader) -> TurnEnd:
        response = stream.get()
        if response.finish_reason == "content_filter":
            raise failures.policy_refused(peer, "the answer was stopped by the provider's filter.")
        if response.finish_reason == "error":  # Gemini's name for a tool call that it could not finish
            raise failures.unreadable(peer, "an answer that it called malformed itself,")
        finish = "paused" if response.state == "suspended" else to_finish(response.finish_reason)
        if finish is None:
            raise failures.cut(peer)
        usage = self._usage(stream, peer) or Usage()
        opaque = to_opaque(self._config.name, peer.model, response)
        return TurnEnd(reader.calls.finish(finish), usage, opaque)

    def _settings(self, request: ModelRequest) -> ModelSettings:
        settings: ModelSettings = {}
        if bound := request.max_output_tokens or request.model.max_output_tokens:
            settings["max_tokens"] = bound
        if request.temperature is not None:
            settings["temperature"] = request.temperature
        if request.tools and request.tool_choice != AUTO:
            named = request.tool_choice != REQUIRED
            settings["tool_choice"] = [request.tool_choice] if named else "required"
        if self._config.headers:
            settings["extra_headers"] = dict(self._config.headers)
        if self._config.extra_body:
            settings["extra_body"] = dict(self._config.extra_body)
        if self._config.kind == "anthropic":
            settings["cache"] = True  # the others cache a stable prefix by themselves
        settings.update(_thinking(self._config.kind, request.model.reasoning))  # type: ignore[typeddict-item]
        return settings


def _thinking(kind: str, reasoning: ReasoningSettings) -> dict[str, Any]:
    """The reasoning settings in the terms of `pydantic_ai`, which knows what each model of a vendor accepts."""
    settings: dict[str, Any] = {}
    if reasoning.effort is not None:
        settings["thinking"] = False if reasoning.effort == "none" else reasoning.effort
    if kind == "openai" and reasoning.summary is not None:
        settings["openai_reasoning_summary"] = reasoning.summary
    if kind == "anthropic" and reasoning.budget_tokens is not None:
        settings["anthropic_thinking"] = {"type": "enabled", "budget_tokens": reasoning.budget_tokens}
    if kind == "google" and reasoning.budget_tokens is not None:
        settings["google_thinking_config"] = {"thinking_budget": reasoning.budget_tokens, "include_thoughts": True}
    return settings


class _Watch:
    """Wrap each wait for the provider in `with watch.waiting():` for its time-out, and for its errors in our tree."""

    def __init__(self, peer: Peer, config: ProviderConfig) -> None:
        self.peer = peer
        self.streaming = False
        self._config = config
        self._first_byte_by = anyio.current_time() + config.first_token_timeout_s

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Raises `ModelTimeout` after the current time-out, and `Model…` errors for the SDK's own."""
        waited_for, limit_s, left_s = "the next token", self._config.token_timeout_s, self._config.token_timeout_s
        if not self.streaming:
            waited_for, limit_s = "the first byte", self._config.first_token_timeout_s
            left_s = self._first_byte_by - anyio.current_time()
        try:
            with anyio.fail_after(left_s):
                yield
        except TimeoutError:
            raise failures.timed_out(self.peer, waited_for, limit_s) from None
        except pydantic_ai_errors.KNOWN as error:
            raise pydantic_ai_errors.to_error(self.peer, self._config.url, error, streaming=self.streaming) from None

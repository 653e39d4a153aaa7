"""Chat completions over HTTP: OpenRouter, Groq, Ollama, vLLM, and other servers with OpenAI's older format. A thin
shell: it sends the headers, `openai_body` writes the body, `openai_stream` reads the answer, `failures` maps errors. It
never retries, except in another dialect if the refusal says what the server does not understand.
"""

import json
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import aiohttp
import anyio
import anyio.to_thread
import orjson

from outlast.base.clock import Clock
from outlast.base.errors import OutlastError
from outlast.kernel.models import failures
from outlast.kernel.models.api_key import ApiKey
from outlast.kernel.models.failures import Peer
from outlast.kernel.models.prices import cost_usd
from outlast.kernel.models.protocol import Delta, ImagePiece, ModelRequest, ToolResultPiece, TurnEnd, Usage, UsageDelta
from outlast.kernel.models.providers.connections import Connections
from outlast.kernel.models.providers.openai_body import Dialect, adapted, chat_body, reasoning_sent, tool_named
from outlast.kernel.models.providers.openai_stream import ChatStream
from outlast.kernel.models.settings import ProviderConfig

_MAX_ERROR_BYTES: Final = 64 * 1024
_ERROR_BODY_TIMEOUT_S: Final = 10.0
# After `[DONE]` a well-behaved server ends the body at once, and the connection can be used again.
_DRAIN_TIMEOUT_S: Final = 0.1


class OpenAICompatible:
    """A `LanguageModel` for one provider. Its only state is the last dialect that each model accepted."""

    def __init__(self, config: ProviderConfig, key: ApiKey, connections: Connections, clock: Clock) -> None:
        self._config, self._key, self._connections, self._clock = config, key, connections, clock
        self._dialects: dict[str, Dialect] = {}  # by model name; forgotten with the process

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Delta], None]:
        """See `LanguageModel.stream`. All bytes, including keep-alive comments, reset the time-outs."""
        model = request.model
        peer = Peer(self._config.name, model.name, self._key, self._config.key_env, model.label)
        first_byte_by = anyio.current_time() + self._config.first_token_timeout_s
        response = await self._ask(request, peer, first_byte_by)
        reader = ChatStream(peer)
        try:
            deltas = reader.feed(await self._first_read(response, peer, first_byte_by))
            while not (reader.finished or response.content.at_eof()):
                if deltas:
                    yield deltas
                deltas = reader.feed(await self._next_read(response, peer, reader))
            if deltas:
                yield deltas
            last, finish, opaque = reader.end()
            yield [*last, TurnEnd(finish, self._priced(request, reader.usage), opaque)]
            await _read_some(response, _DRAIN_TIMEOUT_S)
        except OutlastError:
            if reader.usage != Usage():  # a failed turn is charged all the same
                yield [UsageDelta(self._priced(request, reader.usage))]
            raise
        finally:
            response.close()  # at the end of the body this returns the connection to the pool, earlier it cuts it

    def _priced(self, request: ModelRequest, usage: Usage) -> Usage:
        if usage.cost_usd is not None:
            return usage
        return replace(usage, cost_usd=cost_usd(self._config.kind, self._config.url, request.model.name, usage))

    async def _ask(self, request: ModelRequest, peer: Peer, deadline: float) -> aiohttp.ClientResponse:
        """The opened answer (status 200), or the error."""
        dialect = self._dialects.get(peer.model, Dialect())
        while True:
            make = partial(_make_body, self._config, request, dialect)
            # Images of 20 MB would hold the event loop up for more than a tenth of a second.
            body, content = await anyio.to_thread.run_sync(make) if _has_images(request) else make()
            response = await self._post(content, peer, deadline)
            if response.status == 200:
                self._dialects[peer.model] = dialect.lasting()
                return response
            said = await _read_some(response, _ERROR_BODY_TIMEOUT_S)
            other = adapted(
                dialect,
                response.status,
                said.decode("utf-8", "replace"),
                reasoning_sent=reasoning_sent(body),
                tool_named=tool_named(body),
            )
            if other is not None:
                dialect = other
                continue
            wait_s = failures.retry_after_s(response.headers, self._clock.now())
            raise failures.refusal(peer, response.status, failures.read_complaint(said), wait_s)

    async def _post(self, content: bytes, peer: Peer, deadline: float) -> aiohttp.ClientResponse:
        config = self._config
        headers = {"Content-Type": "application/json", "Accept": "text/event-stream", "Accept-Encoding": "identity"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key.reveal()}"
        try:
            with anyio.fail_after(deadline - anyio.current_time()):
                return await self._connections.session(config.url).post(
                    f"{config.url}/chat/completions",
                    data=content,
                    headers={**headers, **config.headers},
                    timeout=aiohttp.ClientTimeout(total=None, connect=config.connect_timeout_s),
                    allow_redirects=False,
                )
        except aiohttp.ConnectionTimeoutError:
            raise failures.timed_out(peer, "a connection", config.connect_timeout_s) from None
        except TimeoutError:
            raise failures.timed_out(peer, "the first byte", config.first_token_timeout_s) from None
        except aiohttp.ServerDisconnectedError:
            raise failures.cut(peer) from None
        except (aiohttp.ClientError, OSError) as error:
            raise failures.unreachable(peer, config.url, f"{type(error).__name__}: {error}") from None

    async def _first_read(self, response: aiohttp.ClientResponse, peer: Peer, deadline: float) -> bytes:
        """The first bytes of the body; from then on the time-out between tokens holds."""
        try:
            with anyio.fail_after(deadline - anyio.current_time()):
                if response.content_type == "application/json":  # a server that does not stream, or an error with 200
                    return _as_event(await response.read(), peer)
                data = await response.content.readany()
        except TimeoutError:
            raise failures.timed_out(peer, "the first byte", self._config.first_token_timeout_s) from None
        except (aiohttp.ClientError, OSError):
            raise failures.cut(peer) from None
        if response.content_type == "text/html":
            raise failures.unreadable(peer, "a web page instead of an answer")
        self._watch_pauses(response)
        return data

    def _watch_pauses(self, response: aiohttp.ClientResponse) -> None:
        """Use aiohttp's own timer for the time-out between tokens: far cheaper than a scope around every read."""
        protocol = response.connection.protocol if response.connection is not None else None
        if protocol is not None:
            protocol.read_timeout = self._config.token_timeout_s
            protocol.start_timeout()

    async def _next_read(self, response: aiohttp.ClientResponse, peer: Peer, reader: ChatStream) -> bytes:
        """The next bytes; empty at the end, and if the connection breaks after the model has finished."""
        try:
            return await response.content.readany()
        except (aiohttp.ClientError, OSError) as error:
            if reader.answered:
                reader.finished = True
                return b""
            if isinstance(error, TimeoutError):
                raise failures.timed_out(peer, "the next token", self._config.token_timeout_s) from None
            raise failures.cut(peer) from None


def _has_images(request: ModelRequest) -> bool:
    pieces = (piece for message in request.messages for piece in message.pieces)
    return any(
        isinstance(piece, ImagePiece) or (isinstance(piece, ToolResultPiece) and piece.images) for piece in pieces
    )


def _make_body(config: ProviderConfig, request: ModelRequest, dialect: Dialect) -> tuple[dict[str, Any], bytes]:
    """The body of a request, and its bytes."""
    body = chat_body(config, request, dialect=dialect)
    try:
        return body, orjson.dumps(body)
    except TypeError:  # half of a surrogate pair in a text; the slow encoder escapes it
        return body, json.dumps(body).encode()


def _as_event(body: bytes, peer: Peer) -> bytes:
    try:
        return b"data:" + orjson.dumps(orjson.loads(body)) + b"\n"
    except orjson.JSONDecodeError:
        raise failures.unreadable(peer, "a body that is not JSON") from None


async def _read_some(response: aiohttp.ClientResponse, within_s: float) -> bytes:
    """The rest of a body, or the part that arrives in time; then closes the response."""
    body = bytearray()
    try:
        with anyio.move_on_after(within_s):
            while len(body) < _MAX_ERROR_BYTES and not response.content.at_eof():
                body += await response.content.readany()
    except (aiohttp.ClientError, OSError):
        pass
    finally:
        response.close()
    return bytes(body[:_MAX_ERROR_BYTES])

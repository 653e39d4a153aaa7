"""Texts as vectors: any service that speaks OpenAI's /embeddings.

Vectors are float16, little-endian, normalized to length 1: half the size of float32, and the cosine of two is their dot
product. Errors are those of models: `TryLater` may be retried, and already was a few times.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import anyio
import orjson

from outlast.base.clock import Clock
from outlast.base.errors import TryLater
from outlast.base.lazy_module import LazyModule
from outlast.kernel.models import failures
from outlast.kernel.models.api_key import ApiKey
from outlast.kernel.models.failures import Peer
from outlast.kernel.models.providers.connections import Connections
from outlast.kernel.models.settings import EmbeddingSettings

if TYPE_CHECKING:
    import aiohttp
    import numpy as np
else:
    aiohttp, np = LazyModule("aiohttp"), LazyModule("numpy")


PAUSES_S: Final = (0.5, 2.0)  # before the second and third try
MAX_WAIT_S: Final = 10.0  # the longest wait that a service may request; beyond it, the caller decides
TEXT_CHARS: Final = 24_000  # of each text that is sent: about the input limit of models
ANSWER_BYTES: Final = 100_000_000
_KEPT_CHARS: Final = 120  # of the key under which vectors are stored


class OpenAIEmbedder:
    """One service and model, as the settings name them; their URL is the base, or ends in /embeddings itself."""

    def __init__(self, connections: Connections, clock: Clock, settings: EmbeddingSettings, key: ApiKey) -> None:
        plain = settings.url.rstrip("/")
        self._url = plain if plain.endswith("/embeddings") else f"{plain}/embeddings"
        self._connections, self._clock, self._settings, self._key = connections, clock, settings, key
        self._peer = Peer("embeddings", settings.model, key, settings.api_key_env)

    @property
    def model(self) -> str:
        """The key of its vectors: the model's name, and the dimensions if they are requested."""
        tail = f":{self._settings.dimensions}" if self._settings.dimensions else ""
        return f"{self._settings.model[: _KEPT_CHARS - len(tail)]}{tail}"

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        """A vector for each text, in order; requested in batches, with retries. Raises the errors of models
        (`ModelUnreachable`, `ModelRateLimited`, `ModelKeyRefused` …). Cancelling aborts the request; repeating is
        harmless."""
        found: list[bytes] = []
        for start in range(0, len(texts), self._settings.batch):
            found += await self._persistently(texts[start : start + self._settings.batch])
        return found

    async def _persistently(self, texts: Sequence[str]) -> list[bytes]:
        for pause_s in PAUSES_S:
            try:
                return await self._ask(texts)
            except TryLater as error:
                wait_s = max(pause_s, error.retry_after_s or 0.0)
                if wait_s > MAX_WAIT_S:
                    raise
                await self._clock.sleep(wait_s)
        return await self._ask(texts)

    async def _ask(self, texts: Sequence[str]) -> list[bytes]:
        body: dict[str, Any] = {
            "model": self._settings.model,
            "input": [text[:TEXT_CHARS] or " " for text in texts],
            "encoding_format": "float",
        }
        if self._settings.dimensions:
            body["dimensions"] = self._settings.dimensions
        headers = {"Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key.reveal()}"
        try:
            with anyio.fail_after(self._settings.timeout_s):
                return self._read(await self._post(orjson.dumps(body), headers), len(texts))
        except TimeoutError:
            raise failures.timed_out(self._peer, "vectors", self._settings.timeout_s) from None
        except aiohttp.ServerDisconnectedError:
            raise failures.cut(self._peer) from None
        except (aiohttp.ClientError, OSError) as error:
            raise failures.unreachable(self._peer, self._url, f"{type(error).__name__}: {error}") from None

    async def _post(self, body: bytes, headers: dict[str, str]) -> bytes:
        session = self._connections.session(self._url)
        async with session.post(
            self._url, data=body, headers=headers, timeout=aiohttp.ClientTimeout(total=None), allow_redirects=False
        ) as answer:
            content = await answer.content.read(ANSWER_BYTES)
            while not answer.content.at_eof() and len(content) < ANSWER_BYTES:
                content += await answer.content.read(ANSWER_BYTES - len(content))
            if answer.status == 200:
                return content
            wait_s = failures.retry_after_s(answer.headers, self._clock.now())
            raise failures.refusal(self._peer, answer.status, failures.read_complaint(content), wait_s)

    def _read(self, content: bytes, count: int) -> list[bytes]:
        try:
            rows = orjson.loads(content)["data"]
            vectors = {int(row.get("index", at)): packed(row["embedding"]) for at, row in enumerate(rows)}
            return [vectors[at] for at in range(count)]
        except (ValueError, KeyError, TypeError, AttributeError):
            raise failures.unreadable(self._peer, "an answer without vectors") from None


def packed(numbers: Sequence[float]) -> bytes:
    """A vector in its stored form: length 1 (zeros stay zeros), float16, little-endian. Raises `ValueError` for numbers
    that are not finite."""
    vector = np.asarray(numbers, dtype=np.float64)
    length = float(np.linalg.norm(vector))
    if vector.ndim != 1 or not vector.size or not math.isfinite(length):
        raise ValueError("no vector")
    return (vector / length if length else vector).astype("<f2").tobytes()

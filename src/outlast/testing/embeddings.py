"""A real embedder that is small: hashed words and parts of words, and a server that gives its vectors.

The method is called feature hashing: every word of a text, and every run of four letters in it, adds to or takes from
one of `dimensions` numbers that its checksum chooses; the sum is made to length 1. It knows words that look alike, not
words that mean the same, needs no training and gives the same on every machine. The server speaks the wire of OpenAI's
/embeddings. `HashingEmbedder` is the same without a wire, for tests that need only an embedder.
"""

import math
import zlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from aiohttp import web

from outlast.apps.knowledge.tokenizer import terms_of

DIMENSIONS: Final = 512
MODEL: Final = "feature-hashing"
_PART: Final = 4
_PART_WEIGHT: Final = 0.35


def vector_of(text: str, dimensions: int = DIMENSIONS) -> npt.NDArray[np.float32]:
    """The text's vector, length 1 (all zeros for a text without words)."""
    sums = np.zeros(dimensions, np.float32)
    for term, often in Counter(terms_of(text)).items():
        weight = 1 + math.log(often)
        parts = [term[at : at + _PART] for at in range(len(term) - _PART + 1)] if len(term) > _PART else []
        for feature in (f"={term}", *parts):
            number = zlib.crc32(feature.encode())
            signed = weight if number & 1 else -weight
            sums[(number >> 1) % dimensions] += signed if feature[0] == "=" else signed * _PART_WEIGHT
    length = float(np.linalg.norm(sums))
    return sums / length if length else sums


class HashingEmbedder:
    """A `QueryEmbedder` without a wire. `fails` is raised instead of an answer while it is set; `asked` are the texts
    it was given."""

    def __init__(self, dimensions: int = DIMENSIONS) -> None:
        self.dimensions = dimensions
        self.fails: Exception | None = None
        self.asked: list[str] = []

    @property
    def model(self) -> str:
        return f"{MODEL}:{self.dimensions}"

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        self.asked += texts
        if self.fails is not None:
            raise self.fails
        return [vector_of(text, self.dimensions).astype("<f2").tobytes() for text in texts]


@asynccontextmanager
async def embedding_server(
    *, status: Callable[[], int] = lambda: 200, requests: list[Any] | None = None
) -> AsyncIterator[str]:
    """A server on loopback; gives the base URL that ends in /v1. `status` is asked what to answer each request with;
    `requests` collects their bodies."""

    async def answer(request: web.Request) -> web.Response:
        body = await request.json()
        if requests is not None:
            requests.append(body)
        if status() != 200:
            return web.json_response({"error": {"message": "no"}}, status=status())
        given = body["input"]
        texts = [given] if isinstance(given, str) else given
        dimensions = int(body.get("dimensions") or DIMENSIONS)
        data = [
            {"object": "embedding", "index": at, "embedding": vector_of(text, dimensions).tolist()}
            for at, text in enumerate(texts)
        ]
        usage = {"prompt_tokens": sum(map(len, texts)) // 4, "total_tokens": sum(map(len, texts)) // 4}
        return web.json_response({"object": "list", "data": data, "model": MODEL, "usage": usage})

    app = web.Application(client_max_size=50_000_000)
    app.router.add_post("/v1/embeddings", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()

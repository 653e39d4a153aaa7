"""A small embedder without a model: feature hashing over words and their n-grams, in process or as a server.

The checksum of each word, and of each of its four-letter n-grams, chooses one of `dimensions` numbers and whether to
add to it or subtract from it; then the vector is normalized. It finds words that look alike, not words that mean the
same. It needs no training and gives the same vectors on every machine. `HashingEmbedder` runs in process;
`embedding_server` answers as OpenAI's /embeddings does.
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
from aiohttp.test_utils import TestServer

from outlast.apps.knowledge.tokenizer import terms_of

DIMENSIONS: Final = 512
MODEL: Final = "feature-hashing"
_NGRAM_CHARS: Final = 4
_NGRAM_WEIGHT: Final = 0.35  # of the weight of a whole word


def embed_text(text: str, dimensions: int = DIMENSIONS) -> npt.NDArray[np.float32]:
    """The vector of a text: of length 1, or all zeros for a text without words."""
    sums = np.zeros(dimensions, np.float32)
    for word, count in Counter(terms_of(text)).items():
        weight = 1 + math.log(count)
        # The prefix distinguishes a word of four letters from the same n-gram of a longer word.
        _add_feature(sums, f"={word}", weight)
        for ngram in _ngrams(word):
            _add_feature(sums, ngram, weight * _NGRAM_WEIGHT)
    length = float(np.linalg.norm(sums))
    return sums / length if length else sums


def _add_feature(sums: npt.NDArray[np.float32], feature: str, weight: float) -> None:
    checksum = zlib.crc32(feature.encode())
    sums[(checksum >> 1) % len(sums)] += weight if checksum & 1 else -weight


def _ngrams(word: str) -> list[str]:
    """The n-grams of a word; empty if the word is not longer than one n-gram."""
    starts = range(len(word) - _NGRAM_CHARS + 1) if len(word) > _NGRAM_CHARS else ()
    return [word[start : start + _NGRAM_CHARS] for start in starts]


class HashingEmbedder:
    """A `QueryEmbedder` that runs in process. `embed` raises `error` while that is set; `texts` records all texts."""

    def __init__(self, dimensions: int = DIMENSIONS) -> None:
        self.dimensions = dimensions
        self.model = f"{MODEL}:{dimensions}"
        self.error: Exception | None = None
        self.texts: list[str] = []

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        self.texts += texts
        if self.error is not None:
            raise self.error
        return [embed_text(text, self.dimensions).astype("<f2").tobytes() for text in texts]


@asynccontextmanager
async def embedding_server(
    *, status: Callable[[], int] = lambda: 200, requests: list[Any] | None = None
) -> AsyncIterator[str]:
    """Serve `POST /v1/embeddings` on a free port of loopback. Yields the base URL, which ends in /v1. `status` is
    called once per request and gives the status of its answer; `requests` collects the bodies."""

    async def answer(request: web.Request) -> web.Response:
        body = await request.json()
        if requests is not None:
            requests.append(body)
        answer_status = status()
        if answer_status != 200:
            return web.json_response({"error": {"message": "no"}}, status=answer_status)
        return web.json_response(_embeddings(body))

    app = web.Application(client_max_size=50_000_000)
    app.router.add_post("/v1/embeddings", answer)
    async with TestServer(app) as server:
        yield str(server.make_url("/v1"))


def _embeddings(body: dict[str, Any]) -> dict[str, Any]:
    """The body of the answer, in OpenAI's form."""
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    dimensions = int(body.get("dimensions") or DIMENSIONS)
    data = [
        {"object": "embedding", "index": index, "embedding": embed_text(text, dimensions).tolist()}
        for index, text in enumerate(texts)
    ]
    tokens = sum(map(len, texts)) // 4
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return {"object": "list", "data": data, "model": MODEL, "usage": usage}

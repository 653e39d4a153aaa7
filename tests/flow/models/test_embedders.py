"""Texts become vectors through a real service that speaks OpenAI's /embeddings."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest

from outlast.base.clock import Clock
from outlast.base.errors import ModelKeyRefused, ModelOverloaded, ModelUnreachable, OutlastError
from outlast.kernel.models.api_key import ApiKey
from outlast.kernel.models.embedders import OpenAIEmbedder, packed
from outlast.kernel.models.providers.connections import Connections
from outlast.kernel.models.settings import EmbeddingSettings
from outlast.testing.clock import ManualClock
from outlast.testing.embeddings import MODEL, embed_text, embedding_server

KEY = "sk-very-secret-key-1234567890"


@asynccontextmanager
async def embedder(url: str, clock: Clock | None = None, **more: Any) -> AsyncIterator[OpenAIEmbedder]:
    connections, settings = Connections(), EmbeddingSettings(url, MODEL, "EMBEDDINGS_KEY", **more)
    try:
        yield OpenAIEmbedder(connections, clock or ManualClock(), settings, ApiKey(KEY))
    finally:
        await connections.aclose()


async def test_vectors_come_in_order_with_length_one_as_float16() -> None:
    async with embedding_server() as url, embedder(url) as asked:
        found = await asked.embed(["create an issue", "list all issues", "create an issue"])
    vectors = [np.frombuffer(one, "<f2").astype(np.float32) for one in found]
    assert found[0] == found[2] != found[1]
    for vector, text in zip(vectors, ("create an issue", "list all issues"), strict=False):
        assert abs(float(np.linalg.norm(vector)) - 1) < 1e-2
        assert float(vector @ embed_text(text)) > 0.999


async def test_many_texts_are_asked_for_in_batches() -> None:
    bodies: list[Any] = []
    async with embedding_server(requests=bodies) as url, embedder(f"{url}/", batch=4) as asked:
        assert len(await asked.embed([f"text {n}" for n in range(10)])) == 10
    assert [len(body["input"]) for body in bodies] == [4, 4, 2]
    assert {body["encoding_format"] for body in bodies} == {"float"}


async def test_dimensions_are_asked_for_and_name_the_vectors() -> None:
    async with embedding_server() as url, embedder(url, dimensions=64) as asked:
        (found,) = await asked.embed(["text"])
        assert len(found) == 128
        assert asked.model == f"{MODEL}:64"


def fails(*statuses: int) -> Callable[[], int]:
    """The status of one request after the other, then 200."""
    waiting = list(statuses)
    return lambda: waiting.pop(0) if waiting else 200


class Hurried(ManualClock):
    """Nobody waits: sleeping moves it. `slept` are the pauses."""

    def __init__(self) -> None:
        super().__init__()
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.advance(seconds)


async def test_a_service_in_trouble_is_asked_again_after_a_pause() -> None:
    clock = Hurried()
    async with embedding_server(status=fails(500, 429)) as url, embedder(url, clock=clock) as asked:
        assert len(await asked.embed(["text"])) == 1
    assert clock.slept == [0.5, 2.0]


@pytest.mark.parametrize(("status", "kind", "requests"), [(401, ModelKeyRefused, 1), (503, ModelOverloaded, 3)])
async def test_what_does_not_pass_is_told_without_the_key(status: int, kind: type[OutlastError], requests: int) -> None:
    bodies: list[Any] = []

    async with embedding_server(status=lambda: status, requests=bodies) as url, embedder(url, clock=Hurried()) as asked:
        with pytest.raises(kind) as caught:
            await asked.embed(["text"])
    assert len(bodies) == requests
    assert KEY not in str(caught.value)
    assert KEY not in repr(caught.value.__dict__)


async def test_nobody_there_is_told_as_such() -> None:
    async with embedder("http://127.0.0.1:9/v1", clock=Hurried()) as asked:
        with pytest.raises(ModelUnreachable):
            await asked.embed(["text"])


def test_numbers_that_are_none_make_no_vector() -> None:
    for bad in ([], [float("nan")], [float("inf"), 1.0], [[1.0]]):
        with pytest.raises(ValueError, match="vector"):
            packed(bad)  # type: ignore[arg-type]  # as a service may send them
    assert packed([0.0, 0.0]) == bytes(4)

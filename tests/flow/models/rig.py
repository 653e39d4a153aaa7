"""One provider of each kind, pointed at the model server, and a reader that takes an answer apart."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from outlast.kernel.models.catalog import ModelCatalog
from outlast.kernel.models.protocol import (
    Delta,
    LanguageModel,
    ModelMessage,
    ModelRequest,
    ModelSpec,
    ReasoningDelta,
    TextDelta,
    TextPiece,
    ToolArgumentsDelta,
    ToolCallPiece,
    ToolCallStart,
    ToolSpec,
    TurnEnd,
)
from outlast.kernel.models.settings import ModelSettings, ProviderConfig
from outlast.testing.model_server import Answer, ModelServer

KEY = "sk-very-secret-0123456789abcdef"
KINDS = ("openai-compatible", "openai", "anthropic", "google")
NAMES = {
    "openai-compatible": "some/model",
    "openai": "gpt-5-mini",
    "anthropic": "claude-sonnet-4-5",
    "google": "gemini-2.5-flash",
}
TERMINAL = ToolSpec(
    "terminal",
    "Runs a command.",
    {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
)


@dataclass
class Rig:
    """A server, the adapter under test and a request for it."""

    server: ModelServer
    catalog: ModelCatalog
    model: LanguageModel
    spec: ModelSpec

    def request(self, *messages: ModelMessage, **changes: Any) -> ModelRequest:
        said = messages or (user("Hello?"),)
        return replace(ModelRequest(self.spec, "You are helpful.", said, (TERMINAL,)), **changes)


@dataclass
class Heard:
    """What an adapter said, and how it ended."""

    deltas: list[Delta] = field(default_factory=list)
    batches: list[Sequence[Delta]] = field(default_factory=list)
    error: Exception | None = None

    @property
    def text(self) -> str:
        return "".join(delta.text for delta in self.deltas if isinstance(delta, TextDelta))

    @property
    def reasoning(self) -> str:
        return "".join(delta.text for delta in self.deltas if isinstance(delta, ReasoningDelta))

    @property
    def calls(self) -> tuple[ToolCallPiece, ...]:
        arguments: dict[int, str] = {}
        for delta in self.deltas:
            if isinstance(delta, ToolArgumentsDelta):
                arguments[delta.index] = arguments.get(delta.index, "") + delta.delta
        starts = [delta for delta in self.deltas if isinstance(delta, ToolCallStart)]
        return tuple(ToolCallPiece(start.call_id, start.name, arguments.get(start.index, "")) for start in starts)

    @property
    def end(self) -> TurnEnd:
        assert isinstance(self.deltas[-1], TurnEnd)
        return self.deltas[-1]


def user(text: str, *pieces: Any) -> ModelMessage:
    return ModelMessage("user", (TextPiece(text), *pieces))


async def listen(model: LanguageModel, request: ModelRequest) -> Heard:
    """The whole answer, or its beginning and the error."""
    heard = Heard()
    try:
        async with aclosing(model.stream(request)) as batches:
            async for batch in batches:
                heard.batches.append(batch)
                heard.deltas += batch
    except Exception as error:
        heard.error = error
    return heard


@asynccontextmanager
async def rigged(
    kind: Any, *answers: Answer, vision: bool = False, model: Mapping[str, Any] | None = None, **provider: Any
) -> AsyncIterator[Rig]:
    """A rig for one kind of provider whose server gives `answers`, in order; `model`: more of the model's table."""
    async with ModelServer(answers) as server:
        version = "/v1" if kind in ("openai-compatible", "openai") else ""
        config = ProviderConfig(kind, f"{server.base_url}{version}", "FAKE_KEY", name="fake", **provider)
        chosen = ModelSettings(
            **{"id": "fake/m", "provider": "fake", "name": NAMES[kind], "vision": vision, **(model or {})}
        )
        catalog = ModelCatalog([config], [chosen], secret={"FAKE_KEY": KEY}.get)
        try:
            yield Rig(server, catalog, catalog.language_model("fake"), catalog.default)
        finally:
            await catalog.aclose()

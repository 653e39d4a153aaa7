"""The interface of language models: a request goes in, batches of deltas come out.

Plain frozen values only; nothing here knows a vendor, a socket or a price. `LanguageModel` has two real users: the
adapters in `providers/` and the scripted fake in `outlast.testing.scripted_model`.
"""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import field
from typing import Any, Final, Literal, Protocol

from outlast.base.records import dataclass
from outlast.kernel.models.settings import UNKNOWN_MODEL_TOKENS, ModelSettings, SendReasoning
from outlast.kernel.models.tool_choice import AUTO

Role = Literal["user", "assistant", "tool"]
Finish = Literal["stop", "tool_calls", "length", "refused", "paused"]
CHECK_MARK: Final = "[Outlast checked your work and found problems]"
"""The prefix of a generated user message with the result of a check after a turn."""

NOTE_MARK: Final = "[Outlast]"
"""The prefix of a generated user message with a note of the server: the sandbox was lost, the answer was cut."""

TAKE_OVER_MARK: Final = f"{NOTE_MARK} You take this conversation over."
"""The prefix of the note that another agent has handed the conversation over; its reason follows on the next line."""


@dataclass(frozen=True, slots=True)
class TextPiece:
    """Markdown or plain text, said by the message's role."""

    text: str


@dataclass(frozen=True, slots=True)
class ImagePiece:
    """One image, the raw bytes as uploaded; `media_type` such as `image/png`. Only vision models accept it."""

    media_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class ReasoningPiece:
    """Earlier reasoning of the model. Providers that sign reasoning get theirs back through `opaque`."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCallPiece:
    """A tool the assistant asked for; `arguments` is the JSON text of one object."""

    call_id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolResultPiece:
    """The result of that tool (in a message of role `tool`), as the text shown to the model, and its images."""

    call_id: str
    name: str
    content: str
    is_error: bool = False
    images: tuple[ImagePiece, ...] = ()


Piece = TextPiece | ImagePiece | ReasoningPiece | ToolCallPiece | ToolResultPiece


@dataclass(frozen=True, slots=True)
class ModelMessage:
    """One message of the transcript as a model sees it.

    `opaque` is the provider's own record of an assistant turn (thinking signatures, item ids) as plain JSON values:
    `{"provider": …, "model": …, "v": 1, …}`. Store it unread and hand it back; an adapter that does not know it ignores
    it. Where it says `"lasting": true`, it is handed back in later runs of the thread too.
    """

    role: Role
    pieces: tuple[Piece, ...]
    opaque: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool offered to the model; `parameters` is a JSON Schema of type object."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ModelSpec(ModelSettings):
    """A model that users can choose, with all optional settings resolved. `id` is ours, `name` the provider's;
    `credits` are charged per run."""

    max_output_tokens: int = UNKNOWN_MODEL_TOKENS
    send_reasoning: SendReasoning = "auto"


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One turn asked of a model. `max_output_tokens` 0 means the model's own; `metadata` (run id, step) is for logs and
    fakes and is never sent to a provider. `tool_choice`: `auto`, `required` (the turn must call a tool), or the name of
    the tool that it must call. A model that accepts no such choice raises `ModelRejected`; some servers ignore it.
    """

    model: ModelSpec
    system: str
    messages: tuple[ModelMessage, ...]
    tools: tuple[ToolSpec, ...] = ()
    tool_choice: str = AUTO
    max_output_tokens: int = 0
    temperature: float | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one turn. `cached_tokens` are part of the input, `reasoning_tokens` of the output; `cost_usd` is None
    where the price is unknown."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class TextDelta:
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    text: str


@dataclass(frozen=True, slots=True)
class ToolCallStart:
    """The model began a tool call; `index` (0, 1, …, in order of appearance) ties its argument deltas to it."""

    index: int
    call_id: str
    name: str


@dataclass(frozen=True, slots=True)
class ToolArgumentsDelta:
    """The next characters of the JSON text of call `index`. Calls may be interleaved."""

    index: int
    delta: str


@dataclass(frozen=True, slots=True)
class ProviderToolUsed:
    """The provider used a tool of its own (web search, code interpreter); `text` is a sentence for people."""

    tool: str
    text: str


@dataclass(frozen=True, slots=True)
class UsageDelta:
    """The usage of the turn so far, sent before an error. Replaces the `TurnEnd`; a turn never has both."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """The turn is over. The arguments of its calls are as the model wrote them, perhaps not a JSON object. After
    `length` the last call may be cut. After `paused` the provider continues when it gets the turn back."""

    finish: Finish
    usage: Usage
    opaque: dict[str, Any] | None = None


Delta = TextDelta | ReasoningDelta | ToolCallStart | ToolArgumentsDelta | ProviderToolUsed | UsageDelta | TurnEnd


class LanguageModel(Protocol):
    """Something that answers a transcript."""

    def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Delta], None]:
        """Batches of deltas in order, never empty: everything one read from the network held. The last delta of the
        last batch is a `TurnEnd`, and no other delta is.

        Raises one of the `Model…` errors of `base/errors.py`, possibly after some batches: the `TryLater` ones
        (`ModelCut` for a stream that broke off, `ModelOutputInvalid` for an unreadable one) may be retried, the
        `ProviderRefused` ones not. If the provider had counted tokens by then, a `UsageDelta` comes before the error.
        It never retries by itself.

        An async generator: cancelling it or closing it (`aclosing`) closes the connection at once and leaves nothing
        behind. Asking again is a new, separately billed turn.
        """
        ...

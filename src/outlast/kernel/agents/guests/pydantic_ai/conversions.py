"""What pydantic-ai says, in our words: turns as deltas, results of calls, errors of models."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from pydantic_ai import exceptions as pai
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    PartStartEvent,
    TextPart,
    ToolReturnPart,
    UserPromptPart,
)

from outlast.kernel.models.protocol import Delta, TurnEnd
from outlast.kernel.models.providers.pydantic_ai_stream import EventReader, to_finish, to_usage
from outlast.kernel.runs.guest_journal import Result

UNSETTLED: Final = frozenset({"approval_required", "call_deferred"})
ERRORS: Final = frozenset({"model_retry", "tool_failed", "run_cancelled", "validation_error"})
Parts = Sequence[Mapping[str, Any]]


def deltas_of(response: ModelResponse) -> list[Delta]:
    """The deltas of a whole turn that was not streamed."""
    reader = EventReader()
    started = (PartStartEvent(index=index, part=part) for index, part in enumerate(response.parts))
    return [*(delta for event in started for delta in reader.read(event)), *reader.rest(response.parts)]


def end_of(response: ModelResponse) -> TurnEnd:
    """How the turn ended, with its tokens and what they cost."""
    finish = "tool_calls" if response.tool_calls else to_finish(response.finish_reason) or "stop"
    return TurnEnd(finish, replace(to_usage(response.usage), cost_usd=_cost_of(response)))


def _cost_of(response: ModelResponse) -> float | None:
    try:
        return float(response.cost().total_price)
    except (LookupError, ValueError, AssertionError):  # no price is known
        return None


def result_of(payload: Mapping[str, Any]) -> Result | None:
    """What people see of the recorded outcome of a call; None if it has none yet."""
    kind = str(payload.get("kind"))
    if kind in UNSETTLED:
        return None
    if kind in ERRORS:
        return Result(str(payload.get("message") or payload.get("errors") or ""), is_error=True)
    value = payload.get("result")
    if kind == "tool_return" and isinstance(value, Mapping) and value.get("kind") == "tool-return":
        value = value["return_value"]  # in `tool_content_result`, the tool's own object only looks like theirs
    return Result(text_of(value))


def text_of(value: Any) -> str:
    """A JSON value as people read it."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def results_in(messages: Iterable[ModelMessage]) -> dict[str, Result]:
    """The results of calls in these messages, by the calls' ids."""
    found: dict[str, Result] = {}
    for part in (part for message in messages if isinstance(message, ModelRequest) for part in message.parts):
        if isinstance(part, ToolReturnPart):
            found[part.tool_call_id] = Result(part.model_response_str(), part.outcome not in ("success", "denied"))
    return found


def error_data(error: pai.ModelAPIError) -> dict[str, Any]:
    """An error of a model as JSON, with what makes it again."""
    made_of = json.loads(json.dumps(error.__reduce__()[1], default=str))
    return {"kind": type(error).__name__, "message": str(error), "made_of": made_of}


def error_from(data: Mapping[str, Any]) -> pai.ModelAPIError:
    """The error again: code that falls back to another model goes the same way each time."""
    kind = getattr(pai, str(data.get("kind")), pai.ModelAPIError)
    error: pai.ModelAPIError = kind(*data["made_of"])
    return error


def messages_from(asked: Parts, answered: Parts) -> list[ModelMessage]:
    """An exchange of which only the texts are known."""
    said, replied = _texts(asked), _texts(answered)
    return [
        *([ModelRequest(parts=[UserPromptPart(said)])] if said else []),
        *([ModelResponse(parts=[TextPart(replied)])] if replied else []),
    ]


def _texts(parts: Parts) -> str:
    return "\n\n".join(part["text"] for part in parts if part["type"] == "text" and part.get("text"))

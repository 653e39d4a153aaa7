"""A model turn as it arrives: deltas become parts; at the end the turn is stored as pieces for later requests."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, Final

from outlast.base.ids import new_id
from outlast.base.records import dataclass
from outlast.kernel.agents.context_window import LoadImage, image_piece, no_image
from outlast.kernel.compactions.prompt import steps_summary_message
from outlast.kernel.models.protocol import (
    CHECK_MARK,
    NOTE_MARK,
    Delta,
    ImagePiece,
    ModelMessage,
    Piece,
    ProviderToolUsed,
    ReasoningDelta,
    ReasoningPiece,
    TextDelta,
    TextPiece,
    ToolArgumentsDelta,
    ToolCallPiece,
    ToolCallStart,
    ToolResultPiece,
    TurnEnd,
    Usage,
)
from outlast.kernel.models.turn_calls import sendable_arguments
from outlast.kernel.runs.shapes import PartCarrier
from outlast.kernel.runs.transcript import Effect
from outlast.kernel.streams.log_store import NamedEvent
from outlast.kernel.streams.writer import StreamedDelta
from outlast.kernel.threads.parts import NoticePart, Part, ReasoningPart, TextPart, ToolCallPart

GO_ON: Final = (
    f"{NOTE_MARK} Your last answer was cut at the output limit. Continue where it stopped, and repeat nothing."
)
CUT_END_CHARS: Final = 60
MAX_NAME_CHARS: Final = 80  # of a tool's name; ours are shorter, and no table takes more
PROVIDER_TOOL: Final = "provider_tool"  # the notice's code for a tool that the provider ran itself


@dataclass(slots=True)
class OpenPart:
    """A part still being streamed."""

    id: str
    kind: str  # text | reasoning | call | notice
    text: list[str] = field(default_factory=list)
    call_id: str = ""
    tool: str = ""

    def whole(self) -> str:
        return "".join(self.text)


@dataclass(slots=True)
class Turn:
    """One turn of one step. Feed it deltas; it returns new parts and the deltas to show."""

    step: int
    parts: list[OpenPart] = field(default_factory=list)
    end: TurnEnd | None = None
    usage: Usage | None = None  # the provider's counts when the turn ended or broke off
    _calls: dict[int, OpenPart] = field(default_factory=dict)

    def take(self, delta: Delta) -> tuple[NamedEvent | None, StreamedDelta | None]:
        """The part that begins, if one does, and the delta to show after it."""
        if isinstance(delta, TextDelta):
            return self._append("text", "text.delta", encodable(delta.text))
        if isinstance(delta, ReasoningDelta):
            return self._append("reasoning", "reasoning.delta", encodable(delta.text))
        if isinstance(delta, ToolCallStart):
            tool = encodable(delta.name)[:MAX_NAME_CHARS]
            part = OpenPart(new_id("part"), "call", call_id=self._call_id(delta.call_id), tool=tool)
            self._calls[delta.index] = part
            return self._begin(part), None
        if isinstance(delta, ToolArgumentsDelta):
            part, text = self._calls[delta.index], encodable(delta.delta)
            part.text.append(text)
            return None, ("tool_call.arguments.delta", part.id, text)
        if isinstance(delta, ProviderToolUsed):
            return self._begin(OpenPart(new_id("part"), "notice", [encodable(delta.text)])), None
        self.usage = delta.usage
        if isinstance(delta, TurnEnd):
            self.end = delta
        return None, None

    @property
    def calls(self) -> list[OpenPart]:
        return [part for part in self.parts if part.kind == "call"]

    def completed(self) -> list[NamedEvent]:
        """`part.completed` for the texts (calls are written with their verdicts)."""
        return self._completed(part for part in self.parts if part.kind != "call")

    def _completed(self, parts: Iterable[OpenPart]) -> list[NamedEvent]:
        return [("part.completed", PartCarrier(part=shown_part(part, self.step))) for part in parts]

    def result(self) -> dict[str, Any]:
        """The finished turn as the transcript keeps it."""
        assert self.end is not None
        pieces = [
            {"type": "call", "call_id": part.call_id, "name": part.tool, "arguments": part.whole()}
            if part.kind == "call"
            else {"type": part.kind, "text": part.whole()}
            for part in self.parts
            if part.kind != "notice"
        ]
        return {"pieces": pieces, "finish": self.end.finish, "opaque": self.end.opaque}

    def _append(self, kind: str, event: str, text: str) -> tuple[NamedEvent | None, StreamedDelta | None]:
        if not text:
            return None, None
        begun: NamedEvent | None = None
        if not self.parts or self.parts[-1].kind != kind:
            begun = self._begin(OpenPart(new_id("part"), kind))
        part = self.parts[-1]
        part.text.append(text)
        return begun, (event, part.id, text)

    def _begin(self, part: OpenPart) -> NamedEvent:
        self.parts.append(part)
        return "part.created", PartCarrier(part=shown_part(part, self.step))

    def _call_id(self, call_id: str) -> str:
        """The model's id of the call, or a new one if it is missing or not unique (llama.cpp does that)."""
        call_id, taken = encodable(call_id), {part.call_id for part in self.calls}
        return call_id if call_id and call_id not in taken and len(call_id) <= 120 else new_id("effect")


def encodable(text: str) -> str:
    """The text with a replacement character for each lone surrogate, which neither UTF-8 nor our JSON can encode, and
    for each NUL, which PostgreSQL cannot store. Models that escape emoji in two halves send them."""
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def shown_part(part: OpenPart, step: int) -> Part:
    """The part as shown to people."""
    if part.kind == "call":
        return call_part(part, step)
    if part.kind == "notice":
        return NoticePart(id=part.id, step=step, code=PROVIDER_TOOL, text=part.whole())
    kind = TextPart if part.kind == "text" else ReasoningPart
    return kind(id=part.id, step=step, text=part.whole())


def call_part(part: OpenPart, step: int, **values: Any) -> ToolCallPart:
    return ToolCallPart(id=part.id, step=step, call_id=part.call_id, tool=part.tool, arguments=part.whole(), **values)


Sent = Mapping[str, Sequence[Piece]]  # messages that people sent to the run, by effect


def messages_of(effects: Sequence[Effect], sent: Sent, load_image: LoadImage = no_image) -> list[ModelMessage]:
    """The run's own turns, as a model reads them: the summary of the oldest, if they were compacted, and the messages
    of each later step."""
    to_step, text = steps_summary(effects)
    before = [steps_summary_message(to_step, text)] if to_step else sent_after(0, effects, sent)
    return [
        *before,
        *(message for _, messages in step_messages(effects, sent, to_step, load_image) for message in messages),
    ]


def steps_summary(effects: Sequence[Effect]) -> tuple[int, str]:
    """The last step that a summary replaces, and the summary; 0 and empty if there is none."""
    made = [effect.result or {} for effect in effects if effect.kind == "compaction" and effect.status == "finished"]
    return next(((one["to_step"], one["text"]) for one in reversed(made) if "to_step" in one), (0, ""))


def step_messages(
    effects: Sequence[Effect], sent: Sent, after: int = 0, load_image: LoadImage = no_image
) -> list[tuple[int, list[ModelMessage]]]:
    """The messages of each step after this one: the finished turn, the results of its calls, the problems of its lines
    and of the check, then people's messages."""
    return [
        (turn.step, _messages_of_step(effects, turn, sent, load_image))
        for turn in effects
        if turn.kind == "model" and turn.status == "finished" and turn.step > after
    ]


def _messages_of_step(effects: Sequence[Effect], turn: Effect, sent: Sent, load_image: LoadImage) -> list[ModelMessage]:
    result = turn.result or {}
    messages = [ModelMessage("assistant", tuple(_piece(p) for p in result["pieces"]), result.get("opaque"))]
    asked = {piece["call_id"]: piece["arguments"] for piece in result["pieces"] if piece["type"] == "call"}
    calls = [effect for effect in effects if effect.kind == "tool" and effect.step == turn.step]
    results = tuple(_result_piece(call, asked, load_image) for call in calls if call.result is not None)
    if results:
        messages.append(ModelMessage("tool", results))
    notes = [note for call in calls for note in (call.result or {}).get("notes", ())]
    messages += [ModelMessage("user", (TextPiece(f"{NOTE_MARK} {note}"),)) for note in notes]
    told = result.get("problems", ())
    checks = [effect for effect in effects if effect.kind == "check" and effect.step == turn.step]
    found = [(check.result or {}).get("problems", ()) for check in checks]  # the first includes those of the lines
    people = sent_after(turn.step, effects, sent)
    if result["finish"] == "length" and not (results or told or any(found) or people):
        messages.append(ModelMessage("user", (TextPiece(GO_ON),)))
    messages += [
        ModelMessage("user", (TextPiece(problems_text(problems)),))
        for problems in (found if any(found) else [told])
        if problems
    ]
    messages += people
    return messages


def sent_after(step: int, effects: Sequence[Effect], sent: Sent) -> list[ModelMessage]:
    """The messages of people that the model has read after this step."""
    return [ModelMessage("user", tuple(sent[e.id])) for e in effects if e.id in sent and e.step == step]


def cut_call_text(arguments: str, finish: str) -> str:
    """The result of a call whose arguments are not a JSON object."""
    length = len(arguments)
    if finish != "length":
        return f"The arguments are not one JSON object ({length} characters). Nothing was done. Write them again."
    return (
        "Your answer reached the output limit in the middle of this call: only the first "
        f"{length} characters of its arguments arrived, ending in {arguments[-CUT_END_CHARS:]!r}. Nothing was done. "
        "Do not repeat it whole: make several smaller calls, each with clearly fewer characters than that."
    )


def problems_text(problems: Sequence[str]) -> str:
    """The problems that a check found, as a user message from the server."""
    listed = "\n\n".join(f"{number}. {problem}" for number, problem in enumerate(problems, start=1))
    return f"{CHECK_MARK}\n\n{listed}\n\nFix this, then finish as instructed."


def _piece(piece: Mapping[str, Any]) -> Piece:
    if piece["type"] == "call":
        return ToolCallPiece(piece["call_id"], piece["name"], sendable_arguments(piece["arguments"]))
    return TextPiece(piece["text"]) if piece["type"] == "text" else ReasoningPiece(piece["text"])


def _result_piece(call: Effect, asked: Mapping[str, str], load_image: LoadImage) -> ToolResultPiece:
    """The result as the model reads it; if a user changed the arguments, with the changed ones. An image that the model
    does not see is replaced by what it shows."""
    result, call_id = call.result or {}, call.call_id or ""
    content = str(result["content"])
    if call.arguments is not None and call.arguments != (asked.get(call_id, call.arguments) or "{}"):
        content = f"[A person changed the arguments before approving: {call.arguments}]\n{content}"
    found = [image_piece(one["attachment_id"], one["name"], load_image) for one in result.get("images", ())]
    content = "\n".join([content, *(piece.text for piece in found if isinstance(piece, TextPiece))])
    images = tuple(piece for piece in found if isinstance(piece, ImagePiece))
    return ToolResultPiece(call_id, call.tool or "", content, bool(result.get("is_error")), images)

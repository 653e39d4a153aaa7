"""A model turn whose text is lines for the server (`hooks.Lines`): whole lines out of text that comes in any pieces,
and the turn that keeps them. Pure; `line_stream.py` hands them over.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final

from outlast.base.ids import new_id
from outlast.base.records import dataclass
from outlast.kernel.agents.hooks import LinesTaken
from outlast.kernel.models.protocol import Delta, ProviderToolUsed, ReasoningDelta, TextDelta, ToolCallStart, TurnEnd
from outlast.kernel.runs.json_line_joiner import JsonLineJoiner
from outlast.kernel.runs.shapes import Delta as TextGrows
from outlast.kernel.runs.shapes import PartCarrier
from outlast.kernel.runs.turns import OpenPart, Turn, encodable, shown_part
from outlast.kernel.streams.log_store import NamedEvent
from outlast.kernel.streams.writer import StreamedDelta

MAX_LINE_CHARS: Final = 2_000_000  # twice the largest page, to leave room for JSON escapes
QUOTED_CHARS: Final = 80  # of a line that a problem is about
TOO_LONG: Final = (
    "A line was longer than {most} characters and was skipped. It began with: {begins} "
    "Write shorter lines: patches of single elements."
)
CUT_SHORT: Final = (
    "Your answer reached the length limit in the middle of a line, which was skipped. It began with: {begins} "
    "The lines before it were taken: continue after them, with shorter lines."
)


@dataclass(frozen=True, slots=True)
class TooLong:
    """A placeholder for a line beyond the bound, with its beginning."""

    begins: str


Line = str | TooLong


class LineSplitter:
    """Takes text in any pieces and returns whole lines, without their ends (`\\n` or `\\r\\n`). The lines are the same
    however the text is cut. Holds at most `most` characters of an unfinished line."""

    def __init__(self, most: int = MAX_LINE_CHARS) -> None:
        self._most = most
        self._pieces: list[str] = []
        self._length = 0

    def feed(self, text: str) -> list[Line]:
        """The lines that end in this piece."""
        first, *more = text.split("\n")
        self._add(first)
        lines: list[Line] = []
        for piece in more:
            lines.append(self._close())
            self._add(piece)
        return lines

    def end(self) -> list[Line]:
        """End the text: returns its last line, if that has no line end."""
        return [self._close()] if self._length else []

    def _add(self, piece: str) -> None:
        if self._length < self._most:
            self._pieces.append(piece[: self._most - self._length])
        self._length += len(piece)

    def _close(self) -> Line:
        line, long = "".join(self._pieces), self._length > self._most
        self._pieces, self._length = [], 0
        return TooLong(line[:QUOTED_CHARS]) if long else line.removesuffix("\r")


class WholeLines:
    """As `LineSplitter`, with JSON that the model spread over several lines as one line (`json_line_joiner.py`)."""

    def __init__(self, most: int = MAX_LINE_CHARS) -> None:
        self._most = most
        self._splitter, self._joiner = LineSplitter(most), JsonLineJoiner()

    def feed(self, text: str) -> list[Line]:
        """The lines that are complete with this piece."""
        return [whole for line in self._splitter.feed(text) for whole in self._join(line)]

    def end(self) -> list[Line]:
        """End the text, even in the middle of a line."""
        last = [whole for line in self._splitter.end() for whole in self._join(line)]
        return [*last, *self._joiner.end()]

    def _join(self, line: Line) -> list[Line]:
        if isinstance(line, TooLong):
            return [*self._joiner.end(), line]
        whole: list[Line] = [*self._joiner.feed(line)]
        if self._joiner.held_chars > self._most:
            whole += [TooLong(held[:QUOTED_CHARS]) for held in self._joiner.end()]
        return whole


def lines_in(text: str) -> list[str]:
    """The lines of a text, as they were passed on when a model wrote it. Steps grow with its length, which the model's
    output limit bounds."""
    whole = WholeLines()
    return [line for line in (*whole.feed(text), *whole.end()) if isinstance(line, str)]


@dataclass(slots=True)
class LinedTurn(Turn):
    """A turn of an agent that takes lines. `waiting` are the lines not passed on yet; `counts` and `problems` are the
    results of the lines before."""

    waiting: list[Line] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    took: bool = False  # some lines were passed on
    _lines: WholeLines = field(default_factory=WholeLines)
    _prose: list[OpenPart] = field(default_factory=list)
    _closed: bool = True  # the next prose begins a new part

    def take(self, delta: Delta) -> tuple[NamedEvent | None, StreamedDelta | None]:
        """As for any turn; text becomes lines in `waiting`, to be passed on before the fact is recorded."""
        if isinstance(delta, TextDelta):
            self._take_text(encodable(delta.text))
            return None, None
        if isinstance(delta, ToolCallStart | ProviderToolUsed) or (isinstance(delta, ReasoningDelta) and delta.text):
            self._break_line()
        elif isinstance(delta, TurnEnd):
            self._end_lines(delta)
        return Turn.take(self, delta)

    def completed(self) -> list[NamedEvent]:
        """`part.completed` for reasoning, notices and the shown text."""
        return self._completed([*(part for part in self.parts if part.kind in ("reasoning", "notice")), *self._prose])

    def result(self) -> dict[str, Any]:
        """The whole text, and the lines that could not be taken. The lines of its texts, joined, are the lines passed
        on."""
        kept = {"counts": dict(self.counts), "problems": list(self.problems)}
        return Turn.result(self) | {name: value for name, value in kept.items() if value}

    def prose_events(self, prose: str) -> tuple[OpenPart | None, list[NamedEvent]]:
        """The events that show this prose: in the open text part, or in a new one. Changes nothing yet: see `taken`."""
        begins = self._closed or not self._prose
        text = prose.lstrip("\n") if begins else prose
        if not text.strip() and begins:
            return None, []
        part = OpenPart(new_id("part"), "text") if begins else self._prose[-1]
        shown: list[NamedEvent] = [("part.created", PartCarrier(part=shown_part(part, self.step)))] if begins else []
        grows = TextGrows(part_id=part.id, delta=text)
        return OpenPart(part.id, "text", [text]), [*shown, ("text.delta", grows)]

    def taken(self, lines: LinesTaken, prose: OpenPart | None, *, closes: bool) -> None:
        """The lines passed on were taken and recorded, with `prose` as returned by `prose_events`. `closes`: another
        part begins after them."""
        self.took = True
        self.counts = added(self.counts, lines.counts)
        self.problems += lines.problems
        if prose is not None:
            if self._prose and self._prose[-1].id == prose.id:
                self._prose[-1].text += prose.text
            else:
                self._prose.append(prose)
            self._closed = False
        self._closed = self._closed or closes

    def _take_text(self, text: str) -> None:
        if not text:
            return
        if not self.parts or self.parts[-1].kind != "text":
            self.parts.append(OpenPart(new_id("part"), "text"))
        self.parts[-1].text.append(text)
        self.waiting += self._lines.feed(text)

    def _break_line(self) -> None:
        """Another part begins: the line ends, in the transcript too, so that a later reader of the text finds the same
        lines."""
        if last := self._lines.end():
            self.waiting += last
            self.parts[-1].text.append("\n")

    def _end_lines(self, end: TurnEnd) -> None:
        """The last line counts without a line end, unless the model was cut in the middle of it."""
        last = self._lines.end()
        if end.finish != "length":
            self.waiting += last
            return
        for line in last:
            begins = line.begins if isinstance(line, TooLong) else line[:QUOTED_CHARS]
            if begins.strip():
                self.problems.append(CUT_SHORT.format(begins=begins))


def added(counts: Mapping[str, int], more: Mapping[str, int]) -> dict[str, int]:
    """The sums by name."""
    return {name: counts.get(name, 0) + more.get(name, 0) for name in (*counts, *more)}

"""Apply edits: each is applied, refused or stale on its own; all edits of one file are written at once."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from outlast.apps.screens.edits.literals import Splice
from outlast.apps.screens.edits.marks import Mark, byte_at, parse_mark, place_at
from outlast.apps.screens.edits.shapes import (
    MAX_ATTRIBUTE_CHARS,
    MAX_CLASSES_CHARS,
    MAX_TEXT_CHARS,
    EditAnswer,
    EditRequest,
    EditStatus,
)
from outlast.apps.screens.edits.slots import Refusal, Slot, plain, same, slot_of
from outlast.apps.screens.edits.syntax import MAX_SOURCE_BYTES, Element, Parsed, element_at, faults, parse
from outlast.base.errors import MalformedInput, PathRefused
from outlast.base.records import dataclass
from outlast.base.syntax_trees import TooManySteps

MAX_PARSED_BYTES: Final = 5_000_000  # in total, when the edits of a file are tried one by one
UNSAFE: Final = Refusal("unsafe", "The edit would break the file.")
STALE: Final = Refusal("stale", "The source has changed since.", "Save again to apply it to the current code.")


@dataclass(frozen=True, slots=True)
class Ready:
    """An edit that can be made: its number, the byte where its element begins, its replacement."""

    number: int
    edit: EditRequest
    start: int
    splice: Splice


class Batch:
    """Edits sorted by file; all places are those of the files as given. Collects the result of each while files are
    edited. A value that is there already counts as applied, so a repeated request is harmless."""

    def __init__(self, edits: Sequence[EditRequest]) -> None:
        self._edits = edits
        self._results: dict[int, EditAnswer] = {}
        self._by_path: defaultdict[str, list[tuple[int, EditRequest, Mark]]] = defaultdict(list)
        for number, edit in enumerate(edits):
            mark = _mark(edit)
            if isinstance(mark, Refusal):
                self._results[number] = _refused(edit, mark)
            else:
                self._by_path[mark.path].append((number, edit, mark))

    def results(self) -> list[EditAnswer]:
        """The results of the edits, in their order, once all files are edited."""
        return [self._results[number] for number in range(len(self._edits))]

    def by_file(self) -> dict[str, Callable[[bytes | None], bytes | None]]:
        """For each file, a function that makes as many of its edits as possible (None for a missing file), and records
        the results; a repeated call records them again. Never raises for the content of an edit. A file is parsed
        within the bounds of `parse`, again after its edits, and, if those conflict, after each, until
        `MAX_PARSED_BYTES` were read: call it in a thread."""
        return {path: partial(self._apply, path) for path in self._by_path}

    def _apply(self, path: str, source: bytes | None) -> bytes | None:
        parsed = read_source(path, source)
        if isinstance(parsed, Refusal):
            self._results |= {number: _refused(edit, parsed) for number, edit, _ in self._by_path[path]}
            return source
        starts: dict[int, int] = {}
        ready: list[Ready] = []
        for number, edit, mark in self._by_path[path]:
            element = find(parsed, mark)
            if isinstance(element, Refusal):
                self._results[number] = _refused(edit, element)
                continue
            starts[number] = element.start
            found = _prepare(number, edit, element, ready)
            if isinstance(found, Ready):
                ready.append(found)
            else:
                self._results[number] = found
        kept, new = _together(parsed, ready)
        for one in ready:
            self._results[one.number] = _applied(one.edit) if one in kept else _refused(one.edit, UNSAFE)
        for number, start in starts.items():
            line, column = place_at(new, start + _shift(kept, start))
            loc = str(Mark(path, line, column))
            self._results[number] = self._results[number].model_copy(update={"loc": loc})
        return new


def read_source(path: str, source: bytes | None) -> Parsed | Refusal:
    """A file in which people can edit elements."""
    if source is None:
        return Refusal("no_file", f"The file {path!r} does not exist.", "Reload the screen.")
    if len(source) > MAX_SOURCE_BYTES:
        return Refusal("source_too_large", f"{path!r} is longer than {MAX_SOURCE_BYTES:,} bytes.")
    try:
        source.decode()
        return parse(source)
    except UnicodeDecodeError:
        return Refusal("broken_source", f"{path!r} is not UTF-8 text.")
    except TooManySteps:
        return Refusal("source_too_large", f"{path!r} is too complex to parse.", "Ask the agent to change it.")


def find(parsed: Parsed, mark: Mark) -> Element | Refusal:
    """The element that a mark names."""
    byte = byte_at(parsed.decoded, parsed.line_starts, mark.line, mark.column)
    found = None if byte is None else element_at(parsed, byte)
    return found or Refusal("no_element", f"No element begins at {mark}.", "Select it again.")


def splice(source: bytes, ready: Sequence[Ready]) -> bytes:
    """The source with these edits applied; their places do not overlap."""
    new = source
    for one in sorted((each.splice for each in ready), key=lambda each: each.start, reverse=True):
        new = new[: one.start] + one.new + new[one.end :]
    return new


def _prepare(number: int, edit: EditRequest, element: Element, ready: Sequence[Ready]) -> Ready | EditAnswer:
    """The edit ready to be applied, or its result."""
    if edit.tag is not None and edit.tag != element.name:
        return _stale(edit, None)
    slot = slot_of(element, edit)
    if isinstance(slot, Refusal):
        return _refused(edit, slot)
    if same(edit, slot.value, edit.value):
        return _applied(edit)
    if not same(edit, slot.value, edit.seen):
        return _stale(edit, slot.value)
    made = slot.write(_laid_out(edit))
    if any(one.splice.start <= made.end and made.start <= one.splice.end for one in ready):
        twice = Refusal("duplicate", "Another edit of this request changes the same place.", "Send one of them.")
        return _refused(edit, twice)
    return Ready(number, edit, element.start, made)


def _together(parsed: Parsed, ready: Sequence[Ready]) -> tuple[Sequence[Ready], bytes]:
    """All edits, if the result parses as meant; otherwise the edits that do, one after the other."""
    source, before = parsed.source, faults(parsed)
    new = splice(source, ready)
    if _reads(new, ready, before):
        return ready, new
    kept: list[Ready] = []
    for one in ready[: MAX_PARSED_BYTES // max(1, len(source))]:
        if _reads(splice(source, [*kept, one]), [*kept, one], before):
            kept.append(one)
    return kept, splice(source, kept)


def _reads(new: bytes, made: Sequence[Ready], faults_before: int) -> bool:
    """True if the new source has the meaning of each edit, and no more errors than before."""
    try:
        parsed = parse(new)
    except TooManySteps:
        return False
    if faults(parsed) > faults_before:
        return False
    for one in made:
        element = element_at(parsed, one.start + _shift(made, one.start))
        slot = None if element is None else slot_of(element, one.edit)
        if not isinstance(slot, Slot) or not same(one.edit, slot.value, one.edit.value):
            return False
    return True


def _shift(made: Sequence[Ready], byte: int) -> int:
    """The shift of a byte of the old source in the new one."""
    return sum(len(one.splice.new) - (one.splice.end - one.splice.start) for one in made if one.splice.end <= byte)


def _mark(edit: EditRequest) -> Mark | Refusal:
    """The start of the edit's element, if the edit's value can be written."""
    try:
        mark = parse_mark(edit.loc)
    except (MalformedInput, PathRefused) as error:
        return Refusal("not_source", error.message, error.hint)
    wrong = _wrong_value(edit)
    return mark if wrong is None else Refusal("value_invalid", wrong, "Change the value.")


def _wrong_value(edit: EditRequest) -> str | None:
    most = {"classes": MAX_CLASSES_CHARS, "text": MAX_TEXT_CHARS, "attribute": MAX_ATTRIBUTE_CHARS}[edit.kind]
    if len(edit.value) > most:
        return f"The value is longer than {most:,} characters."
    blanks = "\n\r\t" if edit.kind in ("text", "classes") else ""
    if any((one < " " and one not in blanks) or 0xD800 <= ord(one) < 0xE000 or one == "\x7f" for one in edit.value):
        return "The value contains characters that cannot be shown."
    if edit.kind == "attribute" and edit.attribute == "src" and _is_script(edit.value):
        return "The address of a picture must not be code."
    return None


def _is_script(value: str) -> bool:
    scheme = "".join(value.split()).partition(":")[0].lower()
    return ":" in value and scheme in ("javascript", "vbscript")


def _laid_out(edit: EditRequest) -> str:
    if edit.kind == "classes":
        return " ".join(edit.value.split())
    return plain(edit.value) if edit.kind == "text" else edit.value


def _applied(edit: EditRequest) -> EditAnswer:
    return EditAnswer(status="applied", loc=edit.loc, code=None, reason=None, hint=None, found=None)


def _refused(edit: EditRequest, why: Refusal, status: EditStatus = "refused", found: str | None = None) -> EditAnswer:
    return EditAnswer(status=status, loc=edit.loc, code=why.code, reason=why.reason, hint=why.hint, found=found)


def _stale(edit: EditRequest, found: str | None) -> EditAnswer:
    """`found` is None if the value is gone: saving again cannot help then."""
    why = STALE if found is not None else replace(STALE, hint="Select the element again, then change it.")
    return _refused(edit, why, "stale", found)

"""The tags at the end of the `screen` agent's answer, written and parsed. Pure and total: any text gives an answer.

    <title>Pricing page</title>  <task_summary>…Markdown…</task_summary>  <files_summary>- path: words</files_summary>

A title counts only at the start of a line, so that an answer may mention HTML's own `<title>`; of several tags with one
name the last counts. An unclosed one (a cut answer) ends at the next tag or at the end.

Bounds: only the end of an answer is parsed, in 0.2 ms, or 10 ms where it is made of tags.
"""

import json
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from outlast.apps.screens.shapes import ScreenFile
from outlast.base.records import dataclass

TITLE_WORDS: Final = 5
TITLE_CHARS: Final = 60
MAX_FILES: Final = 200
PATH_CHARS: Final = 300
DESCRIPTION_CHARS: Final = 300
ENDING_CHARS: Final = 64_000

_NAMES: Final = "title|task_summary|files_summary"
_TAG: Final = re.compile(rf"<(?P<end>/?)(?P<name>{_NAMES})\s*>", re.IGNORECASE)
_BULLET: Final = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_PLAIN: Final = re.compile(
    r"(?P<path>[^\s:`*\"<>]+)(?:\s*\([^)]*\))?\s*(?::|\s[-–—]{1,2}\s|$)\s*(?P<said>.*)", re.DOTALL
)
_MARKED: Final = re.compile(
    r"(?:\*\*)?`(?P<path>[^`]+)`(?:\*\*)?(?:\s*\([^)]*\))?\s*(?::|[-–—]{1,2}|$)?\s*(?P<said>.*)", re.DOTALL
)
_BOLD: Final = re.compile(
    r"\*\*(?P<path>[^*\s]+?):?\*\*(?:\s*\([^)]*\))?\s*(?::|[-–—]{1,2}|$)?\s*(?P<said>.*)", re.DOTALL
)
_DANGLING: Final = frozenset(
    {"a", "an", "and", "at", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with", "&"}
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The tags at the end of an answer; None for a missing tag."""

    title: str | None = None
    task_summary: str | None = None
    files_summary: str | None = None

    @property
    def files(self) -> list[ScreenFile]:
        return [] if self.files_summary is None else files_in(self.files_summary)


def parse_outcome(text: str) -> Outcome:
    """The tags in the last 64,000 characters of the answer, each trimmed; an empty one counts as missing."""
    text = text[-ENDING_CHARS:]
    found = {block.name: text[block.begin : block.end].strip() for block in _blocks(text)}
    title = parse_title(found.get("title", ""))
    return Outcome(title or None, found.get("task_summary") or None, found.get("files_summary") or None)


class _Block(NamedTuple):
    """A tag and the offsets of its content."""

    name: str
    begin: int
    end: int


def _blocks(text: str) -> Iterator[_Block]:
    """In the order of the text, none inside another."""
    name, begin = "", 0  # of the open tag
    for tag in _TAG.finditer(text):
        said = tag["name"].lower()
        opens_at = _line_start(text, tag.start()) if said == "title" else tag.start()
        if tag["end"] and said == name:
            yield _Block(name, begin, tag.start())
            name = ""
        elif not tag["end"] and opens_at is not None:
            if name:
                yield _Block(name, begin, opens_at)
            name, begin = said, tag.end()
    if name:
        yield _Block(name, begin, len(text))


def _line_start(text: str, at: int) -> int | None:
    """The start of the line, if only blanks precede `at` there."""
    while at > 0 and text[at - 1] in " \t":
        at -= 1
    return at if at == 0 or text[at - 1] == "\n" else None


def parse_title(text: str) -> str:
    """A title for a screen: one line of at most five words and sixty characters, without Markdown; empty for
    unusable text."""
    lines = ("".join(c if c.isprintable() else " " for c in line) for line in text.splitlines())
    line = next((line for line in lines if line.strip(" #*_`\"'")), "")
    words = line.strip(" #*_`\"'").split()[:TITLE_WORDS]
    whole = len(line.split()) <= TITLE_WORDS
    while not whole and len(words) > 1 and words[-1].lower() in _DANGLING:
        words.pop()
    return " ".join(words)[:TITLE_CHARS].strip(" #*_`\"',.:;")


def generate_files_summary(files: Mapping[str, str]) -> str:
    """`<files_summary>` with a line per file, its description by path; empty for no files. `parse_files_summary` parses
    the same files back, with one-line descriptions."""
    lines = [_line(path, said) for path, said in files.items() if path]
    return "\n".join(["<files_summary>", *lines, "</files_summary>"]) if lines else ""


def parse_files_summary(text: str) -> list[ScreenFile] | None:
    """The files in a text with a `<files_summary>`, each once, the last mention counts; None without a summary."""
    summary = parse_outcome(text).files_summary
    return None if summary is None else files_in(summary)


def files_in(summary: str) -> list[ScreenFile]:
    """The files that the lines of a summary name; other lines are skipped."""
    found: dict[str, ScreenFile] = {}
    for line in summary.splitlines():
        one = _file(_BULLET.sub("", line, count=1).strip())
        if one is not None and (one.path in found or len(found) < MAX_FILES):
            found[one.path] = one
    return list(found.values())


def merge_files(before: Sequence[ScreenFile], said: Sequence[ScreenFile], gone: Container[str]) -> list[ScreenFile]:
    """The known files of a screen after a run: the new descriptions over the old ones, without deleted paths. Sorted by
    path, at most 200."""
    known = {one.path: one for one in (*before, *said) if one.path not in gone}
    return [one for _, one in sorted(known.items())][:MAX_FILES]


def one_line(text: str, most: int = DESCRIPTION_CHARS) -> str:
    """The text on one line, shortened, safe inside the tags."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    line = re.sub(rf"<(?=\s*/?\s*(?:{_NAMES}))", "‹", line, flags=re.IGNORECASE)
    return line[:most].rstrip()


def _line(path: str, said: str) -> str:
    plain = re.fullmatch(r"[\w./@()\[\]+-]+", path) and _file(f"{path}: x") is not None
    named = path if plain else json.dumps(path).replace("<", "\\u003c")
    return f"- {named}: {one_line(said)}"


def _file(line: str) -> ScreenFile | None:
    path, said = _quoted(line) if line.startswith('"') else _named(line)
    path = path.removeprefix("./").removeprefix("/workspace/")
    usable = path and len(path) <= PATH_CHARS and not path.startswith("/") and ".." not in path.split("/")
    return ScreenFile(path=path, description=one_line(said)) if usable else None


def _quoted(line: str) -> tuple[str, str]:
    try:
        path, end = json.JSONDecoder().raw_decode(line)
    except ValueError:
        return "", ""
    return str(path), line[end:].lstrip().removeprefix(":")


def _named(line: str) -> tuple[str, str]:
    marked = _MARKED.match(line) or _BOLD.match(line)
    if marked is not None:
        return marked["path"].strip(), marked["said"]
    plain = _PLAIN.match(line)
    if plain is None or not re.search(r"[./]", plain["path"]) or plain["path"].strip("./") == "":
        return "", ""
    return plain["path"], plain["said"]

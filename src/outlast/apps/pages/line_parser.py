"""Parse one line of an agent's answer: patches, a whole page, stats, modules, a summary; else prose. Pure.

A line is one JSON object. A line that does not begin like JSON is prose, for people. A broken JSON line is
repaired where only one reading is possible (trailing commas, line breaks inside strings, missing brackets at the
end, a stray fence around it); else it is a problem, described so that the agent can fix it.

Bounds: the caller's limit of a line; time grows with its length, 100 KB take 30 ms.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import orjson

from outlast.apps.pages.json_repairs import mended
from outlast.apps.pages.patches import read_patch
from outlast.apps.pages.refusals import said
from outlast.apps.pages.shapes import Patch
from outlast.base.records import dataclass
from outlast.kernel.library.modules import NewModule

MAX_PATCHES: Final = 500  # in one line
MAX_STATS: Final = 40
MAX_MODULES: Final = 40  # in one line
SUMMARY_CHARS: Final = 500
TITLE_CHARS: Final = 120
TYPES: Final = ("patches", "full", "stats", "code_modules", "summary")
_FENCE: Final = re.compile(r"\s*(?:```|~~~)[\w+-]*\s*")
_STAT_NAME: Final = re.compile(r"[A-Za-z][\w .:/%-]{0,63}")


@dataclass(frozen=True, slots=True)
class PatchesLine:
    """Patches in order, as written. `problems`: the invalid patches of the line."""

    patches: tuple[Patch, ...]
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FullLine:
    """A new whole page. `title` None keeps the current one."""

    html: str
    title: str | None = None


@dataclass(frozen=True, slots=True)
class StatsLine:
    """Figures that the agent itself counted, by name."""

    values: Mapping[str, float | str]


@dataclass(frozen=True, slots=True)
class ModulesLine:
    """Files that the agent calls reusable; their existence is checked elsewhere."""

    modules: tuple[NewModule, ...]
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SummaryLine:
    """The request and the result, on one line."""

    text: str


@dataclass(frozen=True, slots=True)
class ProseLine:
    """For people, never for the page."""

    text: str


@dataclass(frozen=True, slots=True)
class ProblemLine:
    """A line that looks like JSON but is invalid; `text` describes the error and the correct form."""

    text: str


Line = PatchesLine | FullLine | StatsLine | ModulesLine | SummaryLine | ProseLine | ProblemLine


def read_line(line: str) -> Line | None:
    """The parsed line; None if it is blank, or a fence around the others. Never raises."""
    line = line.strip("\ufeff\r\n\t ")
    if not line or _FENCE.fullmatch(line):
        return None
    inner = line.strip("`").removeprefix("jsonl").removeprefix("json").strip() if line[0] == "`" else line
    if not inner or inner[0] not in "{[":
        return ProseLine(line)
    value = _json(inner)
    if value is None:
        if not _like_json(inner):
            return ProseLine(line)
        return ProblemLine(said(line, "it is not valid JSON. Write one object on one line, with every quote closed"))
    return _read(value, line)


def _json(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return mended(text)


def _like_json(text: str) -> bool:
    """True if the text looks like JSON: prose may begin with a bracket too (`[1] says …`, `{name} is …`)."""
    return re.match(r'\{\s*["\'}]|\{\s*\w+\s*:|\[\s*[{\]]', text) is not None


def _read(value: Any, line: str) -> Line:
    if isinstance(value, list):  # patches without their object
        return _patches(value)
    if not isinstance(value, dict):
        return ProblemLine(said(line, "it is not an object"))
    kind = value.get("type")
    if kind is None and "op" in value:
        return _patches([value])
    if kind in ("patches", "patch") or (kind is None and set(value) == {"patches"}):
        return _patches_of(value, line)
    reader = _READERS.get(kind) if isinstance(kind, str) else None
    if reader is None:
        return ProblemLine(said(line, f'its "type" is not one of {", ".join(TYPES)}'))
    return reader(value, line)


def _patches_of(value: dict[str, Any], line: str) -> Line:
    patches = value.get("patches", value.get("patch"))
    if isinstance(patches, dict):
        patches = [patches]
    if not isinstance(patches, list):
        return ProblemLine(said(line, 'it has no list "patches"'))
    return _patches(patches)


def _patches(values: Sequence[Any]) -> Line:
    patches, problems = [], []
    for number, value in enumerate(values[:MAX_PATCHES], start=1):
        patch = read_patch(value)
        if isinstance(patch, str):
            problems.append(f"patch {number} of {len(values)}: {patch}" if len(values) > 1 else patch)
        else:
            patches.append(patch)
    if len(values) > MAX_PATCHES:
        problems.append(
            f"of {len(values)} patches in one line only the first {MAX_PATCHES} were applied. Write more lines"
        )
    return PatchesLine(tuple(patches), tuple(problems))


def _full(value: dict[str, Any], line: str) -> Line:
    html, title = value.get("html"), value.get("title")
    if not isinstance(html, str):
        return ProblemLine(said(line, 'it has no text "html"'))
    if isinstance(title, str):
        title = " ".join(title.split())[:TITLE_CHARS]
    return FullLine(html, title if isinstance(title, str) and title else None)


def _stats(value: dict[str, Any], _line: str) -> Line:
    """Numbers and short texts, also from one level below (`{"type": "stats", "stats": {…}}`); other values are left
    out, because nothing depends on them."""
    found: dict[str, float | str] = {}
    inner = value.get("stats")
    for name, given in [*value.items(), *(inner.items() if isinstance(inner, dict) else ())]:
        if name == "type" or _STAT_NAME.fullmatch(name) is None or len(found) >= MAX_STATS:
            continue
        if isinstance(given, bool):
            found[name] = str(given).lower()
        elif isinstance(given, int | float):
            found[name] = given
        elif isinstance(given, str):
            found[name] = given[:200]
    return StatsLine(found)


def _summary(value: dict[str, Any], line: str) -> Line:
    text = value.get("text")
    if not isinstance(text, str) or not text.strip():
        return ProblemLine(said(line, 'it has no "text"'))
    return SummaryLine(" ".join(text.split())[:SUMMARY_CHARS])


def _modules(value: dict[str, Any], line: str) -> Line:
    given = value.get("modules")
    if not isinstance(given, list):
        return ProblemLine(said(line, 'it has no list "modules"'))
    modules, problems = [], []
    for number, one in enumerate(given[:MAX_MODULES], start=1):
        module = _module(one)
        if isinstance(module, str):
            problems.append(f"module {number}: {module}")
        else:
            modules.append(module)
    return ModulesLine(tuple(modules), tuple(problems))


def _module(one: Any) -> NewModule | str:
    if not isinstance(one, dict):
        return "it is not an object"
    path, description = one.get("path"), one.get("description")
    exports, usage = one.get("exports", []), one.get("usage", "")
    if not isinstance(path, str) or not path.strip():
        return 'it has no "path"'
    if not isinstance(description, str) or not description.strip():
        return 'it has no "description"'
    if isinstance(exports, str):
        exports = [exports]
    if not isinstance(exports, list) or not all(isinstance(name, str) for name in exports):
        return '"exports" is not a list of names'
    if not isinstance(usage, str):
        return '"usage" is not a text'
    names = tuple(name[:120] for name in exports[:100])
    return NewModule(path.strip()[:500], description.strip()[:2000], names, usage.strip()[:2000])


_READERS: Final[dict[str, Callable[[dict[str, Any], str], Line]]] = {
    "full": _full,
    "stats": _stats,
    "code_modules": _modules,
    "summary": _summary,
}

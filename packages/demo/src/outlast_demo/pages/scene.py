"""Parses the prompt of a page's agent: the request, the page, the saved modules, and earlier requests."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import unescape
from typing import Any, Final

import orjson

from outlast.kernel.models.protocol import CHECK_MARK, NOTE_MARK, ModelMessage, ModelRequest, TextPiece, ToolResultPiece

SEARCH: Final = "search_docs"
RUN: Final = "run_code"
_OF_PAGES: Final = re.compile(r'"type":\s*"patches"')
_SECTIONS: Final = ("[SANDBOX MODULES]", "HTML:", "[RECENT CHANGES]", "[RELEVANT PAST CONTEXT]", "[NOW]")
_ACTION: Final = re.compile(r"^\s*(?:\d+\.\s*)?Action:\s*(\S+)(?:\s+Data:\s*(.*))?$")
_MODULE: Final = re.compile(r"^- (?P<path>[^\s:]+)(?::\s*(?P<names>.*))?$", re.MULTILINE)
_USAGE: Final = re.compile(r"""from\s+['"]([^'"]+)['"]""")


@dataclass(frozen=True, slots=True)
class Acted:
    """A user's action on the page."""

    name: str
    data: Mapping[str, Any]

    def text(self, key: str) -> str:
        """A value as text, or "" if there is none."""
        value = self.data.get(key)
        return value.strip() if isinstance(value, str) else "" if value is None else str(value)


@dataclass(frozen=True, slots=True)
class Saved:
    """A module that the prompt lists. `path` is its import path, `names` are its exports."""

    path: str
    names: str


@dataclass(frozen=True, slots=True)
class PageScene:
    """`said` is the user's request ("" if there are only actions), `results` are the tool results since, in order;
    `before` has lines about earlier requests, the latest first."""

    said: str
    actions: Sequence[Acted] = ()
    html: str = ""
    modules: Sequence[Saved] = ()
    before: str = ""
    results: Sequence[ToolResultPiece] = ()
    tools: frozenset[str] = frozenset()
    found: Sequence[str] = field(default=())  # reports of checks

    def of(self, tool: str) -> list[ToolResultPiece]:
        return [result for result in self.results if result.name == tool]

    def has(self, element_id: str) -> bool:
        return f'id="{element_id}"' in self.html

    def attribute(self, element_id: str, name: str) -> str:
        """The value of an element's attribute, or "" if there is none."""
        tag = re.search(rf'<[^<>]*\bid="{re.escape(element_id)}"[^<>]*>', self.html)
        value = re.search(rf'\b{re.escape(name)}="([^"]*)"', tag[0]) if tag else None
        return unescape(value[1]) if value else ""

    def text_of(self, element_id: str) -> str:
        """The text at the start of an element of the page."""
        found = re.search(rf'<[^<>]*\bid="{re.escape(element_id)}"[^<>]*>([^<]*)<', self.html)
        return unescape(found[1]).strip() if found else ""


def is_page(request: ModelRequest) -> bool:
    """True if the request is from a page's agent: its prompt asks for lines of patches."""
    return _OF_PAGES.search(request.system) is not None


def page_scene(request: ModelRequest) -> PageScene:
    """The last request of the user, with the tool results and reports of checks since."""
    asked, results, found = "", list[ToolResultPiece](), list[str]()
    for message in request.messages:
        text = _text(message)
        if message.role == "user" and text.startswith(CHECK_MARK):
            found.append(text)
        elif message.role == "user" and text and not text.startswith(NOTE_MARK):
            asked, results, found = text, [], []
        results += [piece for piece in message.pieces if isinstance(piece, ToolResultPiece)]
    parts = sections(asked)
    now = parts.get("[NOW]", asked if len(parts) < 2 else "")
    actions, said = _now(now)
    return PageScene(
        said=said,
        actions=actions,
        html=parts.get("HTML:", "").strip(),
        modules=_modules(parts.get("[SANDBOX MODULES]", "")),
        before="\n".join(
            [*reversed(parts.get("[RECENT CHANGES]", "").splitlines()), parts.get("[RELEVANT PAST CONTEXT]", "")]
        ),
        results=tuple(results),
        tools=frozenset(tool.name for tool in request.tools),
        found=tuple(found),
    )


def sections(text: str) -> dict[str, str]:
    """The named sections of a request. A name counts only at the start of a line; for `[NOW]`, the last one counts."""
    places: list[tuple[int, int, str]] = []
    for name in _SECTIONS:
        found = list(re.finditer(rf"^{re.escape(name)}", text, re.MULTILINE))
        if found:
            at = found[-1] if name == "[NOW]" else found[0]
            places.append((at.start(), at.end(), name))
    places.sort()
    ends = [start for start, _, _ in places[1:]] + [len(text)]
    return {name: text[begin:end].strip("\n") for (_, begin, name), end in zip(places, ends, strict=True)}


def outcome(result: ToolResultPiece) -> Any:
    """The value that code returned, or None if it failed."""
    answer = _json(result.content)
    if result.is_error or not isinstance(answer, dict) or answer.get("success") is False:
        return None
    return answer.get("result")


def trouble(result: ToolResultPiece) -> str:
    """The reason why code failed, in one line."""
    answer = _json(result.content)
    error = answer.get("error") if isinstance(answer, dict) else None
    text = str(error or result.content).strip()
    return (text.splitlines() or ["the sandbox gave no reason"])[0][:300]


def _now(text: str) -> tuple[list[Acted], str]:
    actions, said = list[Acted](), list[str]()
    for line in text.splitlines():
        acted = _ACTION.match(line)
        if acted:
            data = _json(acted[2] or "{}")
            actions.append(Acted(acted[1], data if isinstance(data, dict) else {}))
        elif line.strip():
            said.append(re.sub(r"^\s*\d+\.\s+", "", line).strip())
    return actions, " ".join(said)


def _modules(text: str) -> list[Saved]:
    found = []
    matches = list(_MODULE.finditer(text))
    for number, match in enumerate(matches):
        end = matches[number + 1].start() if number + 1 < len(matches) else len(text)
        usage = _USAGE.search(text, match.end(), end)
        path = usage[1] if usage else f"./{match['path'].removeprefix('./')}"
        found.append(Saved(path, match["names"] or ""))
    return found


def _json(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def _text(message: ModelMessage) -> str:
    return "\n".join(piece.text for piece in message.pieces if isinstance(piece, TextPiece))

"""Parses the prompt of a document's agent: the request, the blocks, and the subject of the conversation."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import unescape
from typing import Any, Final

import orjson

from outlast.kernel.models.protocol import CHECK_MARK, NOTE_MARK, ModelMessage, ModelRequest, TextPiece, ToolResultPiece

PROPOSE: Final = "propose_edits"
SEARCH: Final = "search_files"
ASK: Final = "ask_user"
REQUEST: Final = "[REQUEST]"
_DOCUMENT: Final = re.compile(r"<document(?P<mark>-\d+)? (?P<attributes>[^>]*)>")
_ATTRIBUTE: Final = re.compile(r'([a-z_]+)="([^"]*)"')


@dataclass(frozen=True, slots=True)
class Block:
    id: str
    kind: str
    text: str
    section_id: str


@dataclass(frozen=True, slots=True)
class Section:
    id: str
    heading: str
    level: int
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class DocumentScene:
    """`about` is the subject of the conversation (document | section | selection | comment | gone), with its section,
    block and words; `results` are the tool results since the request, in order."""

    said: str
    title: str = ""
    sections: tuple[Section, ...] = ()
    about: str = "document"
    section_id: str = ""
    block_id: str = ""
    words: str = ""
    files: bool = False
    results: Sequence[ToolResultPiece] = ()
    tools: frozenset[str] = frozenset()
    document: bool = True

    @property
    def blocks(self) -> list[Block]:
        return [block for section in self.sections for block in section.blocks]

    def section(self, section_id: str) -> Section | None:
        return next((one for one in self.sections if one.id == section_id), None)

    def of(self, tool: str) -> list[ToolResultPiece]:
        return [result for result in self.results if result.name == tool]

    def with_texts(self, texts: Mapping[str, str]) -> "DocumentScene":
        """A copy with the current texts of these blocks, by id."""
        sections = tuple(
            replace(
                section, blocks=tuple(replace(block, text=texts.get(block.id, block.text)) for block in section.blocks)
            )
            for section in self.sections
        )
        return replace(self, sections=sections)


def is_document(request: ModelRequest) -> bool:
    """True if the request is from a document's agent: it offers the tool that proposes edits."""
    return any(tool.name == PROPOSE for tool in request.tools)


def document_scene(request: ModelRequest) -> DocumentScene:
    """The last request of the user, with the tool results since."""
    asked: ModelMessage | None = None
    results: list[ToolResultPiece] = []
    for message in request.messages:
        if message.role == "user" and not _text(message).startswith((CHECK_MARK, NOTE_MARK)):
            asked, results = message, []
        results += [piece for piece in message.pieces if isinstance(piece, ToolResultPiece)]
    texts = [piece.text for piece in asked.pieces if isinstance(piece, TextPiece)] if asked is not None else []
    before, said = ("", texts) if not texts or not texts[0].endswith(REQUEST) else (texts[0], texts[1:])
    return replace(
        _parse_document(before),
        said="\n".join(said).strip(),
        results=tuple(results),
        tools=frozenset(tool.name for tool in request.tools),
    )


def parsed(content: str) -> Mapping[str, Any]:
    """A tool's result as an object; empty if it is not one."""
    try:
        value = orjson.loads(content)
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}


def _parse_document(before: str) -> DocumentScene:
    begin = _DOCUMENT.search(before)
    if begin is None:
        return DocumentScene("", document=False)
    mark = begin["mark"] or ""
    end = before.rfind(f"</document{mark}>")
    body, behind = before[begin.end() : end], before[end:]
    sections = tuple(_section(found, mark) for found in _elements("section", mark, body))
    scene = DocumentScene(
        "",
        title=_attributes(begin["attributes"]).get("title", ""),
        sections=sections,
        files="[FILES OF THE PROJECT]" in behind,
    )
    return _aimed(scene, behind, mark)


def _aimed(scene: DocumentScene, behind: str, mark: str) -> DocumentScene:
    """Adds the subject of the conversation."""
    for comment, body in _elements("comment", mark, behind):
        own = re.sub(rf"<(quote|answer){mark}\b.*?</\1{mark}>", "", body, flags=re.DOTALL)
        return replace(
            scene,
            about="comment",
            section_id=comment.get("section", ""),
            block_id=comment.get("block", ""),
            words=own.strip(),
        )
    if " that no longer exists." in behind:
        return replace(scene, about="gone")
    found = re.search(r"\[ABOUT\]\n.*?about (selected text|the section)(.*)", behind)
    if found is None:
        return scene
    block, section = re.search(r"blk_\w+", found[2]), re.search(r"sec_\w+", found[2])
    selected = next((body for _, body in _elements("selection", mark, behind)), "")
    return replace(
        scene,
        about="selection" if selected else "section",
        section_id=section[0] if section else "",
        block_id=block[0] if block else "",
        words=selected,
    )


def _section(found: tuple[Mapping[str, str], str], mark: str) -> Section:
    attributes, body = found
    blocks = tuple(
        Block(one.get("id", ""), one.get("kind", ""), text, attributes.get("id", ""))
        for one, text in _elements("block", mark, body)
    )
    heading, level = attributes.get("heading", ""), int(attributes.get("level", "0") or 0)
    return Section(attributes.get("id", ""), heading, level, blocks)


def _elements(tag: str, mark: str, text: str) -> list[tuple[dict[str, str], str]]:
    """Attributes and content of each element of this name."""
    shape = re.compile(rf"<{tag}{mark}(?: ([^>]*))?>\n(.*?)\n</{tag}{mark}>", re.DOTALL)
    return [(_attributes(found[1] or ""), found[2]) for found in shape.finditer(text)]


def _attributes(text: str) -> dict[str, str]:
    return {name: unescape(value) for name, value in _ATTRIBUTE.findall(text)}


def _text(message: ModelMessage) -> str:
    return "\n".join(piece.text for piece in message.pieces if isinstance(piece, TextPiece))

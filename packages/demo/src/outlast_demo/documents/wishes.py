"""Recognises a request about a document and the blocks that it means. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from outlast.base.data_files import read_names
from outlast_demo.documents.prose import is_prose
from outlast_demo.documents.scene import Block, DocumentScene, Section


class Kind(StrEnum):
    SHORTEN = "shorten"
    POLISH = "polish"
    LIST = "list"
    PROSE = "prose"
    SECTION = "section"
    DELETE = "delete"
    MOVE = "move"
    ASK = "ask"
    CORRECT = "correct"
    NOMINATE = "nominate"
    TELL = "tell"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Wish:
    """`topic` is that of a new section; `numbered` is for a list; `last` moves a block to the end."""

    kind: Kind
    topic: str = ""
    numbered: bool = False
    last: bool = False


_SECTION: Final = re.compile(
    r"\b(?:add|write|insert|create|append|new)\b[^.?!]{0,200}?\b(?:section|chapter|part)\b(?:[^.?!]{0,200}?\b(?:about|on|for|called|titled|named|with)\s+(?P<topic>[^.?!\n]+))?",
    re.IGNORECASE,
)
_BETTER: Final = (
    r"fix\w*|word(?:ing|ed)|polish\w*|improv\w*|clean\w*|clear\w*|plain\w*|rewrit\w*|"
    r"rephras\w*|better|correct\w*|edit\w*|simpl\w*|unclear|smooth\w*|revis\w*|refin\w*|help"
)
_WORDS: Final = (
    (Kind.ASK, r"ask me|your questions?|what do you need"),
    (Kind.PROSE, r"(?:in)?to (?:a paragraph|paragraphs|prose|sentences|text)"),
    (Kind.LIST, r"lists?|bullets?|bullet points|bulleted|numbered|steps|enumerat\w+"),
    (Kind.MOVE, r"move|reorder|put (?:it|this|that|the)|to the (?:top|beginning|start|end|bottom)"),
    (Kind.DELETE, r"delete|remove|drop|take out|get rid of"),
    (
        Kind.SHORTEN,
        r"short\w*|concise\w*|tight\w*|brief\w*|condense\w*|trim\w*|cut\w*|compress\w*|too long|wordy|reduce|halve",
    ),
    (Kind.CORRECT, r"spell\w*|grammar|typos?|proof\w*|mistakes?"),
    (Kind.POLISH, _BETTER),
    (Kind.TELL, r"how (?:many|long)|summar\w*|what|who|which|overview|about|missing"),
)
_QUESTION: Final = re.compile(
    r"\b(?:no|without) (?:any )?edits?\b|\b(?:do not|don't) (?:change|edit|propose|write)\b"
    r"|^\s*(?:what|who|which|why|when|where|how (?:many|long|much)|is there|are there)\b[^.?!]*\?\s*$",
    re.IGNORECASE,
)
_FIRST: Final = r"introduc\w*|intro|opening|beginning|preface|lead"
_LAST: Final = r"conclu\w*|ending|closing|last section"
_COMMON: Final = read_names(__file__, "names/common_words")


def wish_of(scene: DocumentScene) -> Wish:
    """The kind of edit that the request asks for; in a conversation about a comment, also by the comment's text."""
    for words in (scene.said, scene.words if scene.about == "comment" else ""):
        wish = _wish(words)
        if wish.kind not in (Kind.UNKNOWN, Kind.TELL):
            return wish
        if scene.about == "comment" and re.match(r"\s*who\b", words, re.IGNORECASE):
            return Wish(Kind.NOMINATE)
    if scene.about == "comment":  # any other comment asks for better wording of its text
        return Wish(Kind.POLISH)
    return _wish(scene.said)


def target_blocks(scene: DocumentScene, said: str = "") -> list[Block]:
    """The blocks that the request means, in order: of the named section, otherwise of the conversation's subject."""
    named = named_section(scene, said or scene.said)
    if named is not None:
        return list(named.blocks)
    if scene.block_id and re.search(r"\b(?:section|document|everything|whole)\b", scene.said, re.IGNORECASE) is None:
        own = [block for block in scene.blocks if block.id == scene.block_id]
        if own:
            return own
    section = scene.section(scene.section_id)
    whole = re.search(r"\b(?:document|everything|whole|all of it)\b", scene.said, re.IGNORECASE)
    if section is not None and whole is None:
        return list(section.blocks)
    return scene.blocks


def named_section(scene: DocumentScene, said: str) -> Section | None:
    """The section whose heading the request names; “introduction” is the first one with text, “conclusion” the last."""
    words = set(re.findall(r"[^\W_]{3,}", said.lower())) - _COMMON
    best: tuple[float, Section] | None = None
    for section in scene.sections:
        heading = set(re.findall(r"[^\W_]{3,}", section.heading.lower())) - _COMMON
        share = len(heading & words) / len(heading) if heading else 0.0
        if share >= 0.5 and (best is None or share > best[0]):
            best = (share, section)
    if best is not None:
        return best[1]
    with_text = [one for one in scene.sections if any(is_prose(block.kind) for block in one.blocks)]
    if with_text and re.search(rf"\b(?:{_FIRST})\b", said, re.IGNORECASE):
        return with_text[0]
    if with_text and re.search(rf"\b(?:{_LAST})\b", said, re.IGNORECASE):
        return with_text[-1]
    return None


def prose_of(blocks: Sequence[Block]) -> list[Block]:
    return [block for block in blocks if is_prose(block.kind)]


def _wish(words: str) -> Wish:
    if _QUESTION.search(words):
        return Wish(Kind.TELL)
    section = _SECTION.search(words)
    if section is not None:
        return Wish(Kind.SECTION, topic=_topic(section["topic"] or ""))
    for kind, pattern in _WORDS:
        if re.search(rf"\b(?:{pattern})\b", words, re.IGNORECASE):
            numbered = re.search(r"\b(?:numbered|steps)\b", words, re.IGNORECASE) is not None
            last = re.search(r"\bto the (?:very )?(?:end|bottom)\b", words, re.IGNORECASE) is not None
            return Wish(kind, numbered=numbered, last=last)
    return Wish(Kind.UNKNOWN)


def _topic(words: str) -> str:
    plain = " ".join(words.strip(" \"'“”‘’.,:;").split())
    plain = re.sub(r"^(?:the|a|an|our|my)\s+", "", plain, flags=re.IGNORECASE)
    return plain[:80]

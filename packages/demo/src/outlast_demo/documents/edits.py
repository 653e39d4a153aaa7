"""Edits by the rules of `prose.py`, as arguments of the tool that proposes them. Pure."""

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from outlast_demo.documents import prose
from outlast_demo.documents.prose import is_prose
from outlast_demo.documents.scene import Block, DocumentScene, parsed
from outlast_demo.documents.wishes import Kind, Wish, named_section, prose_of, target_blocks

MAX_EDITS: Final = 12
ENOUGH: Final = 4  # edits for a request about the whole document, so that the user has something to decide on
Edit = dict[str, Any]


def edits_for(scene: DocumentScene, wish: Wish) -> list[Edit]:
    """The edits to propose; empty if no rule applies."""
    makers: dict[Kind, Callable[[DocumentScene, Wish], list[Edit]]] = {
        Kind.SHORTEN: _shorter,
        Kind.POLISH: _polished,
        Kind.CORRECT: _corrected,
        Kind.NOMINATE: _nominated,
        Kind.LIST: _listed,
        Kind.PROSE: _as_paragraph,
        Kind.SECTION: _new_section,
        Kind.DELETE: _without,
        Kind.MOVE: _moved,
    }
    maker = makers.get(wish.kind)
    return maker(scene, wish)[:MAX_EDITS] if maker is not None else []


def summary_of(wish: Wish, edits: Sequence[Edit]) -> str:
    """The title of the proposal: one line for users."""
    count = f"{len(edits)} block{'' if len(edits) == 1 else 's'}"
    return {
        Kind.SHORTEN: f"Shorten {count}",
        Kind.POLISH: f"Improve wording ({count})",
        Kind.CORRECT: f"Correct {count}",
        Kind.NOMINATE: "Name an owner",
        Kind.LIST: "Turn a paragraph into a list",
        Kind.PROSE: "Turn a list into a paragraph",
        Kind.SECTION: f"Add a section about {wish.topic or 'something new'}",
        Kind.DELETE: f"Delete {count}",
        Kind.MOVE: "Move a block",
    }.get(wish.kind, "Change the text")


def _shorter(scene: DocumentScene, _wish: Wish) -> list[Edit]:
    blocks = prose_of(target_blocks(scene))
    made = _replaced(blocks, lambda block: prose.tightened(block.text, block.kind))
    if len(made) < min(ENOUGH, len(blocks)):
        done = {edit["block_id"] for edit in made}
        more = [block for block in blocks if block.id not in done]
        made += _replaced(more, lambda block: prose.bared(block.text))
    return _in_order(made, blocks)


def _polished(scene: DocumentScene, _wish: Wish) -> list[Edit]:
    blocks = prose_of(target_blocks(scene))
    made = _replaced(blocks, lambda block: prose.polished(block.text))
    for rule in (  # if the rules find no mistake: shorten the text, or turn it into a list
        lambda block: prose.tightened(block.text, block.kind),
        lambda block: prose.bared(block.text),
        lambda block: prose.as_list(block.text) if block.kind == "paragraph" else block.text,
    ):
        made = made or _replaced(blocks, rule)
    return made


def _corrected(scene: DocumentScene, _wish: Wish) -> list[Edit]:
    return _replaced(prose_of(target_blocks(scene)), lambda block: prose.corrected(block.text))


def _nominated(scene: DocumentScene, wish: Wish) -> list[Edit]:
    """Replaces an indefinite pronoun with the name that occurs least often in the document's tables."""
    names = [name for block in scene.blocks if block.kind == "table" for name in _names(block.text)]
    blocks = prose_of(target_blocks(scene))
    if not names:
        return _polished(scene, wish)
    chosen = min(names, key=lambda name: (names.count(name), -names.index(name)))
    return _replaced(blocks, lambda block: prose.nominated(block.text, chosen)) or _polished(scene, wish)


def _names(table: str) -> list[str]:
    """The names in the columns of people."""
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in table.splitlines()]
    columns = [at for at, head in enumerate(rows[0]) if re.search(r"who|owner|name|person", head, re.IGNORECASE)]
    cells = [row[at] for row in rows[2:] for at in columns if at < len(row)]
    return [cell for cell in cells if re.fullmatch(r"[A-ZÀ-Þ][\w'-]+(?: [A-ZÀ-Þ][\w'-]+)*", cell)]


def open_points(scene: DocumentScene) -> list[str]:
    """Open points of the text: unchecked boxes, empty cells, questions."""
    found: list[str] = []
    for block in scene.blocks:
        for line in block.text.splitlines() if block.kind != "code" else ():
            plain = re.sub(r"^\s*(?:[-*+]|\d+[.)])\s*(?:\[ \]\s*)?", "", line).strip(" |")
            if re.search(r"\[ \]|\|\s*(?:open|tbd|tbc|todo|\?)\s*\||\bTODO\b|\?\s*$", line, re.IGNORECASE):
                found.append(" · ".join(cell.strip() for cell in plain.split("|")))
    return found


def _listed(scene: DocumentScene, wish: Wish) -> list[Edit]:
    blocks = [block for block in target_blocks(scene) if block.kind in ("paragraph", "quote")]
    found = _replaced(blocks, lambda block: prose.as_list(block.text, numbered=wish.numbered))
    if scene.block_id or not found:
        return found[:1]
    return [max(found, key=lambda edit: (_items(edit["new_text"]), len(edit["new_text"])))]


def _items(text: str) -> int:
    return len(re.findall(r"^(?:-|\d+\.) ", text, re.MULTILINE))


def _as_paragraph(scene: DocumentScene, _wish: Wish) -> list[Edit]:
    blocks = [block for block in target_blocks(scene) if block.kind == "list"]
    return _replaced(blocks, lambda block: prose.as_prose(block.text))[:1]


def _new_section(scene: DocumentScene, wish: Wish) -> list[Edit]:
    topic = wish.topic or "open points"
    heading = topic[:1].upper() + topic[1:]
    level, after = _place(scene)
    return [
        {
            "op": "insert_section",
            "after_id": after,
            "heading": heading,
            "level": level,
            "new_text": _section_text(scene, topic),
        }
    ]


def _place(scene: DocumentScene) -> tuple[int, str | None]:
    """The level of a new section and the id of the section before it: the one that the conversation is about, otherwise
    the last one before a conclusion."""
    sections = list(scene.sections)
    own = scene.section(scene.section_id)
    if own is not None and own.level:
        return own.level, own.id
    if not sections:
        return 1, None
    levels = [one.level for one in sections if one.level > 1] or [2]
    ends = re.search(r"\b(?:conclusion|summary|outlook|references|appendix)\b", sections[-1].heading, re.IGNORECASE)
    after = sections[-2] if ends and len(sections) > 1 else sections[-1]
    return min(levels), after.id


def _section_text(scene: DocumentScene, topic: str) -> str:
    """A first draft: a passage from a project file, if one matches, and prompts for the rest."""
    said = _from_files(scene)
    lines = [said] if said else [f"This section is a first draft about {topic}."]
    lines.append(
        f"- Define {topic} in a sentence\n- Explain why it matters here\n- List open questions, and who decides them"
    )
    return "\n\n".join(lines)


def _from_files(scene: DocumentScene) -> str:
    found = [
        hit
        for result in scene.results
        if result.name == "search_files"
        for hit in parsed(result.content).get("results", ())
    ]
    if not found:
        return ""
    text = " ".join(str(found[0].get("content", "")).split())
    quoted = " ".join(prose.sentences(text)[:2])[:400]
    return f"> {quoted}\n>\n> — {found[0].get('file', 'a file of the project')}" if quoted else ""


def _without(scene: DocumentScene, _wish: Wish) -> list[Edit]:
    """Deletes the block that the request names, or the one that the conversation is about."""
    if not (scene.block_id or scene.section_id or named_section(scene, scene.said)) and _which(scene.said) is None:
        return []
    blocks = target_blocks(scene)
    if len(blocks) > 1 and (which := _which(scene.said)) is not None:
        blocks = [blocks[which]]
    return [{"op": "delete", "block_id": block.id, "old_text": block.text} for block in blocks]


def _which(said: str) -> int | None:
    found = re.search(r"\b(first|second|third|last)\b", said, re.IGNORECASE)
    return None if found is None else {"first": 0, "second": 1, "third": 2, "last": -1}[found[1].lower()]


def _moved(scene: DocumentScene, wish: Wish) -> list[Edit]:
    """Moves the block that the request names to the beginning or end of its section."""
    blocks = target_blocks(scene)
    if not blocks:
        return []
    chosen = next((one for one in blocks if one.id == scene.block_id), None)
    if chosen is None:
        which = _which(re.sub(r"\bto the .*", "", scene.said, flags=re.IGNORECASE))
        at = which if which is not None else (0 if wish.last else -1)
        chosen = blocks[at] if -len(blocks) <= at < len(blocks) else blocks[-1]
    section = scene.section(chosen.section_id)
    if section is None or len(section.blocks) < 2:  # alone in its section: to the beginning or end of the document
        section = scene.sections[-1 if wish.last else 0]
    siblings = [one for one in section.blocks if one.id != chosen.id]
    if not siblings:
        return []
    edit: Edit = {"op": "move", "block_id": chosen.id, "section_id": section.id}
    return [{**edit, "after_id": siblings[-1].id if wish.last else None}]


def _replaced(blocks: Sequence[Block], rule: Callable[[Block], str]) -> list[Edit]:
    made = [(block, rule(block)) for block in blocks if is_prose(block.kind)]
    return [
        {"op": "replace", "block_id": block.id, "old_text": block.text, "new_text": new}
        for block, new in made
        if new.strip() and new.strip() != block.text.strip()
    ]


def _in_order(edits: Sequence[Edit], blocks: Sequence[Block]) -> list[Edit]:
    order = {block.id: at for at, block in enumerate(blocks)}
    return sorted(edits, key=lambda edit: order[edit["block_id"]])

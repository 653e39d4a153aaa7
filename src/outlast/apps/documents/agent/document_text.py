"""A document as text for a model: an outline, then whole sections, as many as fit. Pure.

Untrusted text is put between tags whose names do not occur in it, so no text can close its own tags. Omitted
parts are listed with their ids, to be read with `read_document`.
"""

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Final, Literal

from outlast.apps.documents.content.tree import Block, Section, Tree, count_words
from outlast.base.records import dataclass
from outlast.kernel.agents.prompt_tags import PromptTags

OUTLINED: Final = 300  # maximum sections in an outline
HEADING_CHARS: Final = 160
NO_HEADING: Final = "(before the first heading)"


@dataclass(frozen=True, slots=True)
class ToldDocument:
    """A document's title and its content at a version."""

    title: str
    tree: Tree

    def texts(self) -> Iterable[str]:
        yield self.title
        for section in self.tree.sections:
            yield section.heading
            yield from (block.markdown for block in section.blocks)


@dataclass(frozen=True, slots=True)
class ToldComment:
    """A comment with its replies (author, text), oldest first."""

    id: str
    by: str
    body: str
    section_id: str | None
    block_id: str | None
    quote: str = ""
    linked: tuple[str, ...] = ()
    answers: tuple[tuple[str, str], ...] = ()
    orphaned: bool = False
    resolved: bool = False


@dataclass(frozen=True, slots=True)
class Anchor:
    """The subject of the thread. `gone`: it was deleted meanwhile; then only its kind and ids are known."""

    kind: Literal["document", "section", "comment", "selection"]
    document_id: str
    section_id: str | None = None
    block_id: str | None = None
    selected: str = ""
    comment: ToldComment | None = None
    gone: bool = False

    @property
    def focus(self) -> tuple[str, ...]:
        """The sections that must be shown whole, most important first."""
        first = [self.section_id] if self.section_id is not None else []
        linked = self.comment.linked if self.comment is not None else ()
        return tuple(dict.fromkeys([*first, *linked]))

    def texts(self) -> Iterable[str]:
        yield self.selected
        if self.comment is not None:
            yield from (self.comment.body, self.comment.quote, *(text for _, text in self.comment.answers))


def document_text(document: ToldDocument, tags: PromptTags, focus: Sequence[str], most_chars: int) -> str:
    """The document with its outline, at most about `most_chars` long. Sections in `focus` are included first,
    then their neighbours, then the others from the beginning; all appear in the document's order."""
    tree = document.tree
    outline = outline_text(tree, tags)
    shown = _shown(tree, focus, most_chars - len(outline))
    told = [
        section_text(one, tags, shown.get(one.id, 0)) for one in tree.sections if shown.get(one.id) or not one.blocks
    ]
    hidden = [one.id for one in tree.sections if one.blocks and not shown.get(one.id)]
    if hidden:
        ids = ", ".join(hidden[:OUTLINED])
        told.append(
            f"[Not shown, because they do not fit: {ids}. Read them with read_document before you change them.]"
        )
    body = "\n".join([outline, *told])
    return tags.put("document", body, id=tree.document_id, title=document.title, version=tree.version)


def outline_text(tree: Tree, tags: PromptTags) -> str:
    """Every section on a line: its id, heading, and numbers of blocks and words."""
    lines = [
        f"{section.id} {_heading(section)} ({len(section.blocks)} blocks, {_words(section)} words)"
        for section in tree.sections[:OUTLINED]
    ]
    rest = len(tree.sections) - len(lines)
    if rest > 0:
        lines.append(f"and {rest} more sections: read_document finds them by words")
    return tags.put("outline", "\n".join(lines) or "(the document is empty)")


def section_text(section: Section, tags: PromptTags, blocks: int) -> str:
    """A section with its first blocks."""
    told = section.blocks[:blocks]
    lines = [block_text(block, tags) for block in told]
    left = len(section.blocks) - len(told)
    if left:
        lines.append(f"[{left} more blocks: read_document with section_id {section.id}, after {told[-1].id}]")
    body = "\n".join(lines) or "(no blocks yet)"
    return tags.put("section", body, id=section.id, level=section.level, heading=section.heading or None)


def block_text(block: Block, tags: PromptTags) -> str:
    return tags.put("block", block.markdown, id=block.id, kind=block.kind)


def anchor_text(anchor: Anchor, tags: PromptTags) -> str:
    """The subject of the conversation in words, with the comment or the selected text fenced."""
    if anchor.kind == "document":
        return "This conversation is about the whole document."
    if anchor.gone:
        return f"This conversation was about a {anchor.kind} that no longer exists. The document is as above."
    if anchor.kind == "section":
        return f"This conversation is about the section {anchor.section_id}."
    if anchor.kind == "selection":
        where = f"in the block {anchor.block_id} of the section {anchor.section_id}"
        return f"This conversation is about selected text {where}:\n{tags.put('selection', anchor.selected)}"
    assert anchor.comment is not None
    return f"This conversation is about a comment on the document:\n{comment_text(anchor.comment, tags)}"


def comment_text(comment: ToldComment, tags: PromptTags) -> str:
    quote = [tags.put("quote", comment.quote)] if comment.quote else []
    answers = [tags.put("answer", text, by=by) for by, text in comment.answers]
    return tags.put(
        "comment",
        "\n".join([*quote, comment.body, *answers]),
        id=comment.id,
        by=comment.by,
        section=comment.section_id,
        block=comment.block_id,
        linked_sections=" ".join(comment.linked) or None,
        status="resolved" if comment.resolved else None,
        place="no longer exists" if comment.orphaned else None,
    )


def _shown(tree: Tree, focus: Sequence[str], chars: int) -> dict[str, int]:
    """The number of blocks shown of each section: all that fit; sections in `focus` are shown whole or not at all."""
    shown: dict[str, int] = {}
    for section_id in _in_turn(tree, focus):
        section = tree.find_section(section_id)
        if section is None:
            continue
        sizes = list(accumulate(len(block.markdown) + len(block.id) * 2 + 60 for block in section.blocks))
        fit = [size for size in sizes if size <= chars]
        if len(fit) == len(sizes) or section_id in focus or not focus:
            shown[section_id] = len(fit)
            chars -= fit[-1] if fit else 0
    return shown


def _in_turn(tree: Tree, focus: Sequence[str]) -> list[str]:
    ids = [section.id for section in tree.sections]
    near = [
        ids[at + step]
        for one in focus
        if one in ids
        for at in [ids.index(one)]
        for step in (-1, 1)
        if 0 <= at + step < len(ids)
    ]
    return list(dict.fromkeys([*focus, *near, *ids]))


def _words(section: Section) -> int:
    return sum(count_words(block.markdown) for block in section.blocks)


def _heading(section: Section) -> str:
    if not section.level:
        return NO_HEADING
    return f"{'#' * section.level} {' '.join(section.heading.split())[:HEADING_CHARS]}"

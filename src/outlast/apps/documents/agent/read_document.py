"""`read_document`: current sections and blocks, for documents that do not fit into a prompt, and after
people have changed them."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Annotated, Final

from pydantic import Field

from outlast.apps.documents import store
from outlast.apps.documents.agent.context import document_of_thread
from outlast.apps.documents.agent.document_text import ToldDocument, block_text, outline_text
from outlast.apps.documents.content.tree import Block, Section, Tree
from outlast.db.database import Database, Tx
from outlast.kernel.agents.context import Context
from outlast.kernel.agents.prompt_tags import PromptTags
from outlast.kernel.agents.tool import Tool, ToolResult, tool

SHOWN_CHARS: Final = 20_000
FOUND_BLOCKS: Final = 30

SectionId = Annotated[str | None, Field(max_length=60, description="Read this section's blocks.")]
After = Annotated[str | None, Field(max_length=60, description="With section_id: continue after this block.")]
Words = Annotated[
    str | None, Field(max_length=500, description="Find blocks that contain these words, anywhere in the document.")
]


def read_document_tool(db: Database) -> Tool:
    """`read_document` for the document of a run's thread."""

    @tool(repeatable=True)
    async def read_document(
        ctx: Context, section_id: SectionId = None, after: After = None, query: Words = None
    ) -> ToolResult:
        """Read the document as it is now: a section's blocks by section_id, or blocks that contain some words by query;
        without either, its outline. Long sections come in pieces."""
        document = await db.read(_document, ctx.this_run.thread_id)
        tree, tags = document.tree, PromptTags.around(document.texts())
        if section_id:
            section = tree.find_section(section_id)
            if section is None:
                outline = outline_text(tree, tags)
                return ToolResult(f"There is no section {section_id} now.\n{outline}", is_error=True)
            body = section_page(section, tags, after)
        elif query and query.strip():
            body = _found(tree, tags, query)
        else:
            body = outline_text(tree, tags)
        return ToolResult(tags.put("document", body, id=tree.document_id, version=tree.version))

    return read_document


def _document(tx: Tx, thread_id: str) -> ToldDocument:
    row = document_of_thread(tx, thread_id)
    return ToldDocument(row.title, store.tree(tx, row.id))


def section_page(section: Section, tags: PromptTags, after: str | None) -> str:
    """A section's blocks behind `after` (from the first if None or not found), as many as fit; then how to continue."""
    ids = [block.id for block in section.blocks]
    blocks = section.blocks[ids.index(after) + 1 if after in ids else 0 :]
    told = _fitting(block_text(_within(block), tags) for block in blocks)
    if rest := len(blocks) - len(told):
        told.append(f"[{rest} more blocks: after={blocks[len(told) - 1].id}]")
    body = "\n".join(told) or "(no blocks)"
    return tags.put("section", body, id=section.id, level=section.level, heading=section.heading or None)


def _found(tree: Tree, tags: PromptTags, query: str) -> str:
    """Blocks with the words, best matches first; each in its section."""
    words = list(dict.fromkeys(query.lower().split()))
    scored = [
        (hits, section, block)
        for section in tree.sections
        for block in section.blocks
        if (hits := _hits(words, f"{section.heading}\n{block.markdown}"))
    ]
    scored.sort(key=lambda one: -one[0])
    lines = _fitting(
        tags.put("section", block_text(_within(block), tags), id=section.id, heading=section.heading or None)
        for _, section, block in scored[:FOUND_BLOCKS]
    )
    if more := len(scored) - len(lines):
        lines.append(f"[{more} more blocks contain some of these words]")
    return "\n".join(lines) or "No block contains any of these words."


def _fitting(texts: Iterable[str]) -> list[str]:
    """The first texts, as many as fit; at least one."""
    told, left = list[str](), SHOWN_CHARS
    for text in texts:
        if told and len(text) > left:
            break
        told.append(text)
        left -= len(text)
    return told


def _hits(words: Sequence[str], text: str) -> int:
    lowered = text.lower()
    return sum(word in lowered for word in words)


def _within(block: Block) -> Block:
    """A very long block is cut; then only a person can move or delete it."""
    if len(block.markdown) <= SHOWN_CHARS * 2:
        return block
    return replace(block, markdown=f"{block.markdown[: SHOWN_CHARS * 2]}\n[… cut: too long to show in full …]")

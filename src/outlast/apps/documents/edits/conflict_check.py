"""No text is overwritten that its writer has not seen: a change is merged with what is there, or refused. Pure."""

from dataclasses import asdict
from typing import Any

from outlast.apps.documents.content.markdown_parse import one_line, tidy
from outlast.apps.documents.content.tree import Block, Section
from outlast.apps.documents.edits.merge import MAX_MERGED, merge
from outlast.base.errors import TextChanged


def merged(block: Block, old: str, wanted: str) -> str:
    """What a block is to say, if the writer saw `old` and wants it to say `wanted`. Raises `TextChanged` where both
    changed the same words."""
    base, text = tidy(old), tidy(wanted)
    if base == tidy(block.markdown) or text == block.markdown:
        return text
    if not text.strip():
        raise _changed("block", block.id, block.markdown, text, base, [], block.editor_id)
    return _merge("block", block.id, block.markdown, text, base, block.editor_id)


def merged_heading(section: Section, old: str | None, wanted: str) -> str:
    """As `merged`, for a heading."""
    base = section.heading if old is None else one_line(old)
    if base == section.heading or wanted == section.heading:
        return wanted
    return one_line(_merge("section", section.id, section.heading, wanted, base, None))


def demand_seen(block: Block, old: str) -> None:
    """Raise `TextChanged` unless the block says what the writer who deletes it saw."""
    if tidy(old) != tidy(block.markdown):
        raise _changed("block", block.id, block.markdown, "", tidy(old), [], block.editor_id)


def demand_section_seen(section: Section, seen: int | None) -> None:
    """Raise `TextChanged` where the section or one of its blocks is newer than the version that the writer who deletes
    it saw (None: any)."""
    newest = max([section.version, *(block.version for block in section.blocks)])
    _demand_version("section", section.id, f"section “{section.heading}”", newest, seen, "delete")


def demand_document_seen(document_id: str, version: int, seen: int | None) -> None:
    """Raise `TextChanged` where the document is newer than the version that the writer who replaces all of it saw
    (None: any)."""
    _demand_version("document", document_id, "document", version, seen, "replace")


def _demand_version(noun: str, key: str, name: str, version: int, seen: int | None, verb: str) -> None:
    if seen is not None and version > seen:
        raise TextChanged(
            f"The {name} was changed in version {version}, after version {seen} which you saw.",
            hint=f"Look at it again before you {verb} it.",
            noun=noun,
            id=key,
            version=version,
            seen=seen,
        )


def _merge(noun: str, key: str, current: str, wanted: str, base: str, editor_id: str | None) -> str:
    result = merge(base, current, wanted)
    if result.text is None or len(result.text) > MAX_MERGED:
        hunks = [asdict(hunk) for hunk in result.hunks]
        raise _changed(noun, key, current, wanted, base, hunks, editor_id)
    return result.text


def _changed(
    noun: str, key: str, current: str, wanted: str, base: str, hunks: list[Any], editor_id: str | None
) -> TextChanged:
    return TextChanged(
        "Somebody changed the same text since you started.",
        noun=noun,
        id=key,
        current=current,
        wanted=wanted,
        base=base,
        hunks=hunks,
        editor_id=editor_id,
    )

"""Never overwrite text that the writer has not seen: a change is merged with the current text, or refused. Pure."""

from collections.abc import Sequence
from dataclasses import asdict

from outlast.apps.documents.content.markdown_parse import one_line, tidy
from outlast.apps.documents.content.tree import Block, Section
from outlast.apps.documents.edits.merge import MAX_MERGED, MergeHunk, merge
from outlast.base.errors import TextChanged


def merged(block: Block, old: str, wanted: str) -> str:
    """The new text of a block, if the writer saw `old` and writes `wanted`. Raises `TextChanged` where both
    changed the same words."""
    base, text = tidy(old), tidy(wanted)
    if base == tidy(block.markdown) or text == block.markdown:
        return text
    if not text.strip():
        raise _changed(block, text, base)
    return _merge(block, text, base)


def merged_heading(section: Section, old: str | None, wanted: str) -> str:
    """Like `merged`, for a heading."""
    base = section.heading if old is None else one_line(old)
    if base == section.heading or wanted == section.heading:
        return wanted
    return one_line(_merge(section, wanted, base))


def demand_seen(block: Block, old: str) -> None:
    """Raise `TextChanged` unless the block has the text that the deleting writer saw."""
    if tidy(old) != tidy(block.markdown):
        raise _changed(block, "", tidy(old))


def demand_section_seen(section: Section, seen: int | None) -> None:
    """Raise `TextChanged` if the section or one of its blocks is newer than the version that the deleting writer
    saw (None accepts any)."""
    newest = max([section.version, *(block.version for block in section.blocks)])
    _demand_version("section", section.id, f"section “{section.heading}”", newest, seen, "delete")


def demand_document_seen(document_id: str, version: int, seen: int | None) -> None:
    """Raise `TextChanged` if the document is newer than the version that the replacing writer saw (None accepts
    any)."""
    _demand_version("document", document_id, "document", version, seen, "replace")


def _demand_version(noun: str, key: str, name: str, version: int, seen: int | None, verb: str) -> None:
    if seen is not None and version > seen:
        raise TextChanged(
            f"The {name} was changed in version {version}, after version {seen}, which you saw.",
            hint=f"Read it again before you {verb} it.",
            noun=noun,
            id=key,
            version=version,
            seen=seen,
        )


def _merge(thing: Block | Section, wanted: str, base: str) -> str:
    result = merge(base, thing.text, wanted)
    if result.text is None or len(result.text) > MAX_MERGED:
        raise _changed(thing, wanted, base, result.hunks)
    return result.text


def _changed(thing: Block | Section, wanted: str, base: str, hunks: Sequence[MergeHunk] = ()) -> TextChanged:
    return TextChanged(
        "The same text was changed since you started editing.",
        noun="block" if isinstance(thing, Block) else "section",
        id=thing.id,
        current=thing.text,
        wanted=wanted,
        base=base,
        hunks=[asdict(hunk) for hunk in hunks],
        editor_id=thing.editor_id if isinstance(thing, Block) else None,
    )

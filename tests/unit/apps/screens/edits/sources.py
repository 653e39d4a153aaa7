"""Source files with a mark in them: `§` stands before the element that is meant."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from outlast.apps.screens.edits.apply import Batch
from outlast.apps.screens.edits.marks import place_at
from outlast.apps.screens.edits.shapes import EditAnswer, EditKind, EditRequest

PATH = "app/page.tsx"
MARK = "§"


class Applied(NamedTuple):
    """`results` in the order of the edits; `files` holds the new content of those that changed."""

    results: list[EditAnswer]
    files: dict[str, bytes]


def apply_edits(files: Mapping[str, bytes], edits: Sequence[EditRequest]) -> Applied:
    """Make the edits in these files, as saving them does."""
    batch = Batch(edits)
    made = {path: edit(files.get(path)) for path, edit in batch.by_file().items()}
    return Applied(batch.results(), {path: new for path, new in made.items() if new not in (None, files.get(path))})


def marked(text: str) -> tuple[bytes, str]:
    """The source without its first mark, and the place that the mark stood at."""
    before, _, after = text.partition(MARK)
    source = (before + after).encode()
    line, column = place_at(source, len(before.encode()))
    return source, f"{PATH}:{line}:{column}"


def page(element: str) -> str:
    """A component that shows one element; the mark is before it unless it holds one."""
    inner = element if MARK in element else f"{MARK}{element}"
    return f"export default function Page({{ open, ...props }}: Props) {{\n  return (\n    {inner}\n  )\n}}\n"


def edit_of(
    loc: str, kind: EditKind, seen: str | None, value: str, attribute: str | None = None, tag: str | None = None
) -> EditRequest:
    """An edit whatever it says: a `Batch` itself refuses what is not valid."""
    return EditRequest.model_construct(loc=loc, kind=kind, seen=seen, value=value, attribute=attribute, tag=tag)  # type: ignore[arg-type]


def change(
    element: str,
    value: str,
    seen: str | None,
    kind: EditKind = "classes",
    attribute: str | None = None,
    tag: str | None = None,
) -> tuple[Applied, str]:
    """Edit the marked element: the outcome, and the element's line in the new source."""
    source, loc = marked(page(element))
    applied = apply_edits({PATH: source}, [edit_of(loc, kind, seen, value, attribute, tag)])
    new = applied.files.get(PATH, source).decode()
    return applied, new.split("return (\n    ", 1)[1].rsplit("\n  )\n}", 1)[0]

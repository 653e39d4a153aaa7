"""The line for people about what a version changed, if its author wrote none. Pure."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from outlast.apps.documents.content.tree import Section, Tree
from outlast.apps.documents.edits.tree_diff import Delta
from outlast.kernel.mentions.rules import one_line

SUMMARY_CHARS: Final = 200
HEADING_CHARS: Final = 60
CREATED: Final = "Made of a Markdown text"
IMPORTED: Final = "Imported a Markdown text"
REPLACED: Final = "Replaced the text by an imported one"
RESTORED: Final = "Restored version {version}"
ACCEPTED: Final = "{count} edits of the agent in “{title}”"
REOPENED: Final = "Reopened accepted edits"
REOPENED_NAMED: Final = "Reopened: {summary}"
_VERBS: Final = {"added": "Added", "changed": "Changed", "moved": "Moved", "removed": "Deleted"}


def describe(before: Tree, found: Sequence[Delta]) -> str:
    """Such as "Added section “Goals”" or "Changed 2 blocks in “Goals”". `found` is what people call changed."""
    sections = [delta for delta in found if delta.noun == "section"]
    blocks = [delta for delta in found if delta.noun == "block"]
    if len(sections) == 1:
        return _of_section(sections[0])
    if sections:
        return _counted(sections, "section") + (f", {_lower(_counted(blocks, 'block'))}" if blocks else "")
    homes = {section_id for delta in blocks for section_id in delta.sections}
    home = before.find_section(*homes) if len(homes) == 1 else None
    return _counted(blocks, "block") + (f" in {_quoted(home)}" if home is not None and home.heading else "")


def _of_section(delta: Delta) -> str:
    was, now = delta.before, delta.after
    if isinstance(was, Section) and isinstance(now, Section) and was.heading and was.heading != now.heading:
        return f"Renamed section {_quoted(was)} to {_quoted(now)}"
    shown = now if isinstance(now, Section) else was
    assert isinstance(shown, Section)  # one side is there
    return f"{_VERBS[delta.state]} {_named(shown)}"


def _counted(found: Sequence[Delta], noun: str) -> str:
    counts = Counter(delta.state for delta in found)
    shown = {state: f"a {noun}" if counts[state] == 1 else f"{counts[state]:,} {noun}s" for state in counts}
    told = [f"{verb} {shown[state]}" for state, verb in _VERBS.items() if state in shown]
    return ", ".join([*told[:1], *map(_lower, told[1:])])


def _named(section: Section) -> str:
    if section.level == 0:
        return "the text before the first heading"
    return f"section {_quoted(section)}" if section.heading else "a section"


def _quoted(section: Section) -> str:
    return f"“{one_line(section.heading, HEADING_CHARS)}”"


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]

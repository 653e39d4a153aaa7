"""Writes the one-line summary of a version whose author gave none. Pure."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from outlast.apps.documents.content.tree import Section, Tree
from outlast.apps.documents.edits.tree_diff import Delta
from outlast.kernel.mentions.rules import one_line

SUMMARY_CHARS: Final = 200
HEADING_CHARS: Final = 60
CREATED: Final = "Created from Markdown"
IMPORTED: Final = "Imported Markdown"
REPLACED: Final = "Replaced with imported Markdown"
RESTORED: Final = "Restored version {version}"
REOPENED: Final = "Reopened edits"
REOPENED_NAMED: Final = "Reopened: {summary}"
_VERBS: Final = {"added": "Added", "changed": "Changed", "moved": "Moved", "removed": "Deleted"}


def accepted(count: int, thread_title: str) -> str:
    """Such as "Accepted 1 edit by the agent in “Goals”"."""
    return f"Accepted {count:,} {'edit' if count == 1 else 'edits'} by the agent in “{thread_title}”"


def describe(before: Tree, deltas: Sequence[Delta]) -> str:
    """Such as "Added section “Goals”" or "Changed 2 blocks in “Goals”"."""
    sections = [delta for delta in deltas if delta.noun == "section"]
    blocks = [delta for delta in deltas if delta.noun == "block"]
    if len(sections) == 1:
        return _section_change(sections[0])
    if sections:
        return _count_changes(sections, "section") + (f", {_lower(_count_changes(blocks, 'block'))}" if blocks else "")
    homes = {section_id for delta in blocks for section_id in delta.sections}
    home = before.find_section(*homes) if len(homes) == 1 else None
    place = f" in {_quote_heading(home)}" if home is not None and home.heading else ""
    return _count_changes(blocks, "block") + place


def _section_change(delta: Delta) -> str:
    was, now = delta.before, delta.after
    if isinstance(was, Section) and isinstance(now, Section) and was.heading and was.heading != now.heading:
        return f"Renamed section {_quote_heading(was)} to {_quote_heading(now)}"
    shown = now if isinstance(now, Section) else was
    assert isinstance(shown, Section)  # one side is there
    return f"{_VERBS[delta.state]} {_name_section(shown)}"


def _count_changes(deltas: Sequence[Delta], noun: str) -> str:
    counts = Counter(delta.state for delta in deltas)
    objects = {state: f"a {noun}" if counts[state] == 1 else f"{counts[state]:,} {noun}s" for state in counts}
    clauses = [f"{verb} {objects[state]}" for state, verb in _VERBS.items() if state in objects]
    return ", ".join([*clauses[:1], *map(_lower, clauses[1:])])


def _name_section(section: Section) -> str:
    if section.level == 0:
        return "the text before the first heading"
    return f"section {_quote_heading(section)}" if section.heading else "a section"


def _quote_heading(section: Section) -> str:
    return f"“{one_line(section.heading, HEADING_CHARS)}”"


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]

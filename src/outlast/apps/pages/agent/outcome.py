"""The lines in which a page's run describes itself: title, stats, modules, summary. Pure.

Read from the text of its turns in the transcript: of several lines of one kind the last counts, of modules
the last line for each path.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Final

from outlast.apps.pages.agent.modules import MAX_MODULES, plain_path, wrong_with
from outlast.apps.pages.line_parser import FullLine, ModulesLine, ProseLine, StatsLine, SummaryLine, read_line
from outlast.base.records import dataclass
from outlast.kernel.library.modules import NewModule
from outlast.kernel.runs.lined_turn import lines_in

PROSE_CHARS: Final = 2_000


@dataclass(frozen=True, slots=True)
class Outcome:
    """`title` and `summary` are empty if not given. `modules` by path, in the order of announcement."""

    title: str = ""
    summary: str = ""
    prose: str = ""
    stats: Mapping[str, float | str] = field(default_factory=dict)
    modules: Mapping[str, NewModule] = field(default_factory=dict)


def outcome_of(said: Sequence[str]) -> Outcome:
    """`said` is the text of each turn, oldest first. Any text gives an answer."""
    title = summary = ""
    prose: list[str] = []
    stats: dict[str, float | str] = {}
    modules: dict[str, NewModule] = {}
    for line in (line for text in said for line in lines_in(text)):
        match read_line(line):
            case FullLine(_, str(given)):
                title = given
            case SummaryLine(text):
                summary = text
            case StatsLine(values):
                stats |= values
            case ModulesLine(announced, _):
                for one in announced:
                    if not wrong_with(one.path) and len(modules) < MAX_MODULES:
                        path = plain_path(one.path)
                        modules[path] = replace(one, path=path)
            case ProseLine(text):
                prose.append(text)
            case _:
                pass
    return Outcome(title, summary, "\n".join(prose)[-PROSE_CHARS:], stats, modules)

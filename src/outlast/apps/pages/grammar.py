"""The lines that a page's agent writes, described once (`grammar.toml`): the agent's prompt and
docs/reference/page-patches.md are both made from this. `line_parser.read_line` accepts every example.
"""

import tomllib
from typing import Any, Final, NamedTuple

from outlast.apps.pages.shapes import PatchOp
from outlast.base.data_files import read_text

_GRAMMAR: Final[dict[str, Any]] = tomllib.loads(read_text(__file__, "grammar.toml"))


class Explained(NamedTuple):
    """A patch or a line: its effect, in one sentence, and an example."""

    does: str
    example: str


PATCHES: Final[dict[PatchOp, Explained]] = {name: Explained(**told) for name, told in _GRAMMAR["patches"].items()}
LINES: Final[dict[str, Explained]] = {name: Explained(**told) for name, told in _GRAMMAR["lines"].items()}

"""The look of pages: the classes and colours of the style sheets that every page has (`page.css` and `shapes.css` of
`web/src/page-runtime`), described once. The agent's prompt and docs/reference/page-patches.md are made from this; a
test compares it with the style sheets.
"""

import tomllib
from typing import Final

from outlast.base.data_files import read_text

_DESIGN: Final = tomllib.loads(read_text(__file__, "design.toml"))
CLASSES: Final[dict[str, str]] = _DESIGN["classes"]
COLOURS: Final[dict[str, str]] = _DESIGN["colours"]

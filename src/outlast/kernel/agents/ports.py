"""Tools of apps that agents of other apps have, too."""

from typing import Final

from outlast.kernel.agents.tool import Tool
from outlast.kernel.apps.ports import Port

SEARCH_DOCS: Final[Port[Tool | None]] = Port("tool that searches documentation", None)

"""Kinds of services on which people connect accounts. `kind.py` is the port and the generic kind; each of the others
says in one file how its service differs, with the pages of its reference."""

from collections.abc import Mapping
from typing import Final

from outlast.kernel.connections.kinds.github import GITHUB
from outlast.kernel.connections.kinds.google import GOOGLE
from outlast.kernel.connections.kinds.kind import Kind
from outlast.kernel.connections.kinds.linear import LINEAR
from outlast.kernel.connections.kinds.slack import SLACK

KINDS: Final[Mapping[str, Kind]] = {
    "generic": Kind(),
    "github": GITHUB,
    "google": GOOGLE,
    "linear": LINEAR,
    "slack": SLACK,
}

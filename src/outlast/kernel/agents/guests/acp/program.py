"""How an agent is started."""

from collections.abc import Mapping, Sequence
from dataclasses import field

from outlast.base.records import dataclass


@dataclass(frozen=True, slots=True)
class AcpProgram:
    """How an agent is started: its words, variables beside those of the sandbox, and how it signs in."""

    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    auth_method: str = ""

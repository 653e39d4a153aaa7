"""Agents that threads need, by their names."""

from typing import Final

from outlast.kernel.apps import registry
from outlast.kernel.apps.ports import Port

DEFAULT_AGENT: Final[Port[str]] = Port("agent of threads", "chat")
"""The agent of threads that name none."""
SUMMARY_AGENT: Final[Port[str]] = Port("agent that sums up", "")
"""The agent of the first run of a fork with a summary; without one, such forks are refused."""


def default_agent() -> str:
    """The profile of threads that name none."""
    return registry.implementation(DEFAULT_AGENT)

"""What can wait in an inbox: the kernel's own kinds, and those of the apps."""

from collections.abc import Sequence
from typing import Final

from outlast.kernel.apps import registry
from outlast.kernel.mentions import store as mentions
from outlast.kernel.mentions.items import InboxSource
from outlast.kernel.runs import inbox as runs
from outlast.kernel.threads import driver

_OWN: Final[Sequence[InboxSource]] = (runs.waiting, driver.waiting, mentions.waiting)


def sources() -> Sequence[InboxSource]:
    """Every kind."""
    return (*_OWN, *registry.load().inbox)

"""`python -m outlast` and the command `outlast`."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

from outlast.surfaces.cli.main import run_cli

if TYPE_CHECKING:
    from outlast.kernel.settings import Settings
    from outlast.surfaces.cli.main import Announce


def main() -> None:
    """Run one command and exit with its code."""
    run_cli(_run)


def _run(settings: Settings, announce: Announce, http: bool) -> None:
    # What importing makes is kept until the end: looking through it for garbage takes a fifth of the start, and time
    # of every run later.
    gc.disable()
    from outlast.app import run

    gc.freeze()
    gc.enable()
    run(settings, announce, http=http)


if __name__ == "__main__":
    main()

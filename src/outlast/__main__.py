"""`python -m outlast` and the command `outlast`."""

import gc

from outlast.base.settings import Settings
from outlast.surfaces.cli.main import run_cli
from outlast.surfaces.cli.server_commands import Announce


def main() -> None:
    """Run one command and exit with its code."""
    run_cli(_serve, _work)


def _serve(settings: Settings, announce: Announce) -> None:
    _run(settings, announce, http=True)


def _work(settings: Settings, announce: Announce) -> None:
    _run(settings, announce, http=False)


def _run(settings: Settings, announce: Announce, *, http: bool) -> None:
    # What importing makes is kept until the end: looking through it for garbage takes a fifth of the start, and time
    # of every run later.
    gc.disable()
    from outlast.app import run

    gc.freeze()
    gc.enable()
    run(settings, announce, http=http)


if __name__ == "__main__":
    main()

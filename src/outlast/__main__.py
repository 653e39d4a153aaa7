"""`python -m outlast` and the command `outlast`."""

from outlast.base.settings import Settings
from outlast.surfaces.cli.main import run_cli
from outlast.surfaces.cli.serving import Announce


def main() -> None:
    """Run one command and exit with its code."""
    run_cli(_serve, _work)


def _serve(settings: Settings, announce: Announce) -> None:
    from outlast.app import run

    run(settings, announce, http=True)


def _work(settings: Settings, announce: Announce) -> None:
    from outlast.app import run

    run(settings, announce, http=False)


if __name__ == "__main__":
    main()

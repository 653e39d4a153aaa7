"""`python -m outlast` and the command `outlast`."""

from __future__ import annotations

import gc
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from outlast.kernel.settings import Settings
    from outlast.surfaces.cli.main import Announce


def main() -> None:
    """Run one command and exit with its code."""
    # What importing makes is kept until the end: looking through it for garbage takes a fifth of the start, and time of
    # every run later.
    usual = gc.get_threshold()
    gc.set_threshold(500_000)
    # Pydantic would read the metadata of every installed package in search of plugins. `PYDANTIC_DISABLE_PLUGINS=none`
    # has it search.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from outlast.surfaces.cli.main import run_cli

    def run(settings: Settings, announce: Announce, http: bool) -> None:
        from pydantic import BaseModel, ConfigDict

        # FastAPI's own models are needed only for the OpenAPI document: to build them takes a tenth of the start.
        BaseModel.model_config = ConfigDict(defer_build=True)
        from outlast.app import load, run

        load()
        BaseModel.model_config = ConfigDict()
        gc.freeze()
        gc.set_threshold(*usual)
        run(settings, announce, http=http)

    run_cli(run)


if __name__ == "__main__":
    main()

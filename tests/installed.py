"""An environment with some packages missing, made of links to those that are installed here."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = {
    "outlast": ROOT / "src",
    **{folder.name: folder.parent for folder in (ROOT / "packages").glob("*/src/*") if folder.name.isidentifier()},
}


def environment_without(folder: Path, *packages: str) -> Mapping[str, str]:
    """The variables with which `python -S` finds everything but `packages` (names to import). Fills `folder`."""
    left_out = tuple(name.replace("_", "-") for name in packages)
    for installed in (Path(place) for place in sys.path if place.endswith("site-packages")):
        for path in installed.glob("*"):
            distribution = path.name.partition("-")[0].replace("_", "-")
            if distribution not in left_out and not (folder / path.name).exists():
                (folder / path.name).symlink_to(path)
    sources = [str(source) for name, source in SOURCES.items() if name not in packages]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OUTLAST_", "PYTHON"))}
    return {**kept, "PYTHONPATH": os.pathsep.join([*sources, str(folder)])}

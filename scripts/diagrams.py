"""Draws the changed diagrams of docs/: `make diagrams`. Each becomes a picture named after the hash of its text, so
that the site and its readers need no program to draw it. Needs Chromium and the npm registry."""

from __future__ import annotations

import runpy
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
HOOKS: Final = runpy.run_path(str(ROOT / "scripts" / "site_hooks.py"))
FOLDER: Final = ROOT / "docs" / HOOKS["DIAGRAMS"]
MERMAID: Final = "mermaid@11.12.0"
CHROMIUM: Final = "/usr/bin/chromium"
DRAW: Final = """async text => {
  mermaid.initialize({startOnLoad: false, theme: 'neutral', htmlLabels: false, flowchart: {htmlLabels: false},
                      fontFamily: 'system-ui, sans-serif', deterministicIds: true});
  document.body.innerHTML = (await mermaid.render('d', text)).svg;
  for (const path of document.querySelectorAll('path')) {
    if (path.getAttribute('d').length < 4000) continue;
    const box = path.getBBox();  // a rounded box, drawn as thousands of curves
    const plain = document.createElementNS(path.namespaceURI, 'rect');
    for (const {name, value} of path.attributes) if (name !== 'd') plain.setAttribute(name, value);
    for (const side of ['x', 'y', 'width', 'height']) plain.setAttribute(side, box[side].toFixed(1));
    plain.setAttribute('rx', 5);
    path.replaceWith(plain);
  }
  return new XMLSerializer().serializeToString(document.querySelector('svg'));
}"""


def main() -> int:
    """Draws missing pictures and removes those of deleted diagrams."""
    diagrams = {HOOKS["picture"](text): text for page in (ROOT / "docs").rglob("*.md")
                for text in HOOKS["DIAGRAM"].findall(page.read_text())}  # fmt: skip
    FOLDER.mkdir(exist_ok=True)
    there = {path.name for path in FOLDER.glob("*.svg")}
    for name in there - set(diagrams):
        (FOLDER / name).unlink()
    missing = sorted(set(diagrams) - there)
    if missing:
        draw({name: diagrams[name] for name in missing})
    return 0


def draw(diagrams: dict[str, str]) -> None:
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        page.add_script_tag(content=library(Path(folder)))
        for name, text in diagrams.items():
            drawn: Any = page.evaluate(DRAW, text)
            (FOLDER / name).write_text(drawn + "\n")
            print(f"drew {HOOKS['DIAGRAMS']}/{name}")
        browser.close()


def library(folder: Path) -> str:
    """Mermaid's source, from the npm registry."""
    runpy.run_path(str(ROOT / "scripts" / "web.py"))["npm"]("pack", "--silent", MERMAID, folder=folder)
    [archive] = folder.glob("*.tgz")
    with tarfile.open(archive) as files:
        found = files.extractfile("package/dist/mermaid.min.js")
        assert found is not None
        return found.read().decode()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as failed:
        sys.exit(failed.returncode)

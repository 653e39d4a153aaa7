"""Builds the documentation's site from docs/ into the package: `site.py build`. The server serves it at /docs.

A build is skipped while its sources are what the last build was made from. Next to each page lies its Markdown;
`llms.txt` lists the pages and `llms-full.txt` holds them all, as https://llmstxt.org describes.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
DOCS: Final = ROOT / "docs"
BUILT: Final = ROOT / "src" / "outlast" / "_docs"
SOURCES: Final = (DOCS, ROOT / "mkdocs.yml", ROOT / "scripts" / "site.py", ROOT / "scripts" / "site_hooks.py")
STAMP: Final = ".sources"
INLINE: Final = re.compile(r"<script>(.*?)</script>", re.DOTALL)
COMPRESSED: Final = frozenset({".html", ".css", ".js", ".json", ".svg", ".md", ".txt"})
UNUSED: Final = ("sitemap.xml*", "assets/**/*.map", "assets/javascripts/lunr")
"""Files of MkDocs that the site does not use: it has no fixed address, and one language."""
MIN_BYTES: Final = 1_000
"""Smaller files are served as they are: a compressed copy saves less than a packet."""


def main(command: str) -> int:
    """Runs one command; 0, or the exit code of MkDocs."""
    if command != "build" or not DOCS.is_dir():
        return 0
    wanted = runpy.run_path(str(ROOT / "scripts" / "web.py"))["fingerprint"](*SOURCES)
    stamp = BUILT / STAMP
    if stamp.is_file() and stamp.read_text() == wanted:
        return 0
    print("Building the documentation ...", flush=True)
    fresh = BUILT.with_name("_docs.new")
    failed = build(fresh)
    if failed:
        return failed
    (fresh / STAMP).write_text(wanted)
    shutil.rmtree(BUILT, ignore_errors=True)
    fresh.rename(BUILT)
    return 0


def build(folder: Path) -> int:
    """Builds the whole site in `folder`; returns the exit code of MkDocs, which refuses broken links."""
    shutil.rmtree(folder, ignore_errors=True)
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, check=False, capture_output=True, text=True)
    if done.returncode:
        print(done.stdout, done.stderr, "docs: the site was not built", sep="", file=sys.stderr)
        return done.returncode
    for page in sorted(folder.rglob("*.html")):
        page.write_text(INLINE.sub(partial(script_file, page, folder), page.read_text()))
    missing = folder / "404.html"  # served at any depth
    missing.write_text(re.sub(r'((?:href|src)=|"base": )"/(?!/)', r'\1"/docs/', missing.read_text()))
    write_markdown(folder)
    for name in UNUSED:
        for path in folder.glob(name):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    compress(folder)
    return 0


def script_file(page: Path, folder: Path, script: re.Match[str]) -> str:
    """Moves an inline script to a file: the server's content security policy refuses inline scripts."""
    name = f"inline-{hashlib.sha256(script[1].encode()).hexdigest()[:12]}.min.js"
    (folder / "assets" / "javascripts" / name).write_text(script[1])
    up = "../" * len(page.parent.relative_to(folder).parts)
    return f'<script src="{up}assets/javascripts/{name}"></script>'


def write_markdown(folder: Path) -> None:
    """Each page's Markdown, and the two files for language models."""
    pages = list(pages_in_order())
    listed = ["# Outlast", "", f"> {configuration()['site_description']}", ""]
    whole = []
    section = ""
    for path, title in pages:
        text = (DOCS / path).read_text()
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        here = path.split("/")[0] if "/" in path else "start"
        if here != section:
            section = here
            listed += ["", f"## {section.capitalize()}", ""]
        listed.append(f"- [{title}](/docs/{path})")
        whole.append(f"<!-- /docs/{path} -->\n\n{text.strip()}\n")
    (folder / "llms.txt").write_text("\n".join(listed) + "\n")
    (folder / "llms-full.txt").write_text("\n\n".join(whole))


def pages_in_order() -> Iterator[tuple[str, str]]:
    """The path below docs/ and the title of every page in the navigation."""
    for path in leaves(configuration()["nav"]):
        heading = re.search(r"^# (.+)$", (DOCS / path).read_text(), re.MULTILINE)
        yield path, heading[1] if heading else path


def leaves(nav: Any) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    for inner in nav.values() if isinstance(nav, dict) else nav if isinstance(nav, list) else ():
        yield from leaves(inner)


def configuration() -> Any:
    """mkdocs.yml without the tags that only MkDocs understands."""
    import yaml

    text = re.sub(r"!!python/\S+", "", (ROOT / "mkdocs.yml").read_text())
    return yaml.safe_load(text)


def compress(folder: Path) -> None:
    """Writes a compressed copy of each text file."""
    for path in sorted(folder.rglob("*")):
        if path.suffix in COMPRESSED and path.stat().st_size >= MIN_BYTES:
            path.with_name(path.name + ".gz").write_bytes(gzip.compress(path.read_bytes(), 9, mtime=0))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

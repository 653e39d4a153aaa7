"""Hooks of MkDocs: diagrams become pictures, and links that leave docs/ become the names of their target files."""

from __future__ import annotations

import hashlib
import posixpath
import re
from pathlib import Path
from typing import Any, Final

DIAGRAM: Final = re.compile(r"^```mermaid\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DIAGRAMS: Final = "images/diagrams"
LINK: Final = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s#:]+)(#[^)]*)?\)")


def on_config(config: Any) -> Any:
    """Adds every decision record to the navigation, the newest last."""
    names = sorted(Path(config.docs_dir, "decisions").glob("[0-9]*.md"))
    config.nav.append({"Decisions": [f"decisions/{path.name}" for path in names]})
    return config


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """The page's text as MkDocs renders it."""
    folder = posixpath.dirname(page.file.src_uri)
    up = posixpath.relpath(DIAGRAMS, folder or ".")
    markdown = DIAGRAM.sub(lambda found: shown(found[1], up), markdown)
    return LINK.sub(lambda found: within(found, folder), markdown)


def shown(diagram: str, folder: str) -> str:
    """The diagram's picture; on a small screen it opens at its full size."""
    address = f"{folder}/{picture(diagram)}"
    return f"[![{alternative(diagram)}]({address})]({address})"


def picture(diagram: str) -> str:
    """The file name of a diagram's picture, which depends only on its text."""
    return hashlib.sha256(diagram.encode()).hexdigest()[:12] + ".svg"


def alternative(diagram: str) -> str:
    """The text of a diagram for screen readers: its arrows."""
    arrows = re.findall(r"^ *(\S+) *--?>+ *([^\s:]+)", diagram, re.MULTILINE)
    listed = "; ".join(f"{a} to {b}" for a, b in arrows).replace("[*]", "start or end")
    return f"Diagram: {listed}" if listed else "Diagram"


def within(link: re.Match[str], folder: str) -> str:
    """The link unchanged, or the plain name of its target if that is not a page of the site."""
    target = posixpath.normpath(posixpath.join(folder, link[2]))
    return f"{link[1]} (`{target.removeprefix('../')}`)" if target.startswith("../") else link[0]

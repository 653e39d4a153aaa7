"""App templates small enough for a test."""

from __future__ import annotations

from outlast.apps.screens.theme_tokens import shipped_themes
from outlast.apps.screens.themes import apply_theme
from outlast.kernel.sandboxes.services.rules import Declared
from outlast.kernel.sandboxes.templates import DEV_PORT, DEV_SERVER, Template, Templates

PAGE = b"export default function Page() {\n  return <main>Hello</main>\n}\n"
STYLES = apply_theme('@import "tailwindcss";\n\n@theme inline {\n}\n', shipped_themes()["default"]).encode()


def small_templates() -> Templates:
    return {name: _template(name) for name in ("next", "vite")}


def _template(name: str) -> Template:
    files = {
        "package.json": b'{"name": "app", "scripts": {"dev": "true"}}\n',
        "app/page.tsx": PAGE,
        "app/globals.css": STYLES,
        "components/ui/button.tsx": b"export function Button() {\n  return <button>Hello</button>\n}\n",
    }
    service = Declared(DEV_SERVER, "true", DEV_PORT)
    return Template(name, files, ("package.json",), (), (), service, 512, 1.0)

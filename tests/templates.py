"""App templates small enough for a test."""

from __future__ import annotations

from outlast.apps.screens.theme_tokens import shipped_themes
from outlast.apps.screens.themes import apply_theme
from outlast.kernel.sandboxes.services.rules import Declared
from outlast.kernel.sandboxes.templates import DEV_PORT, DEV_SERVER, Template, Templates

SERVE = f"python3 -m http.server {DEV_PORT}"
PAGE = b"export default function Page() {\n  return <main>Hello</main>\n}\n"
STYLES = apply_theme('@import "tailwindcss";\n\n@theme inline {\n}\n', shipped_themes()["default"]).encode()


def small_template(**files: bytes) -> Template:
    """One without packages: a server of the standard library, and a layer to write into, `node_modules`. `files` by
    name, `__` for a slash and `_` for the dot, beside those it has."""
    extra = {key.replace("__", "/").replace("_", "."): data for key, data in files.items()}
    return Template(
        name="small",
        files={"index.html": b"<p>begun</p>", "app/page.tsx": b"export default 1\n", **extra},
        installed=("app/page.tsx",),
        commands=(
            (
                "mkdir -p node_modules/kit node_modules/.tool .cache && echo made > node_modules/kit/index.js"
                " && pwd > node_modules/where && echo warm > .cache/state"
            ),
        ),
        layers=("node_modules", ".cache"),
        service=Declared(DEV_SERVER, SERVE, DEV_PORT, "/"),
        memory_mb=256,
        cpus=1.0,
        env={"TEMPLATE_SAYS": "hello"},
    )


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

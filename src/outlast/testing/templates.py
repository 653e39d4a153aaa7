"""A small app template for tests: no packages, a server of the standard library, a layer to write into."""

from typing import Final

from outlast.kernel.sandboxes.services.rules import Declared
from outlast.kernel.sandboxes.templates import DEV_PORT, DEV_SERVER, Template

SERVE: Final = f"python3 -m http.server {DEV_PORT}"


def small_template(**files: bytes) -> Template:
    """`files` by name, `__` for a slash and `_` for the dot, beside those it has. Its layer is `node_modules`."""
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

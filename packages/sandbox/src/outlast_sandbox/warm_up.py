"""The command that warms a project's caches during its snapshot build: it runs the dev server once, requests its pages
with all resources that a browser would load, and ends it when its caches are written."""

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Final

READY_S: Final = 300
END_S: Final = 60

# The names of snapshots depend on its bytes.
_SCRIPT: Final = "\n" + Path(__file__).with_suffix(".mjs").read_text(encoding="utf-8")


def warm_up(command: str, files: Mapping[str, str], port: int) -> str:
    """A shell command for the project's folder: the dev server that `command` starts receives requests for `/` and for
    the pages that `files` add temporarily. Fails if a page fails, and leaves no process behind."""
    pages = [f"/{path.split('/')[1]}" for path in files] + ["/"]
    options = {"command": command, "pages": pages, "files": files, "port": port, "readyS": READY_S, "endS": END_S}
    return f"node --input-type=module - {shlex.quote(json.dumps(options))} <<'OUTLAST_END'{_SCRIPT}OUTLAST_END"

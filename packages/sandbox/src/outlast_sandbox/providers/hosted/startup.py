"""The shell commands that put the agent into a hosted sandbox, find it again, and connect to it."""

import base64
import functools
import hashlib
import io
import json
import secrets
import shlex
import tarfile
from pathlib import Path
from typing import Final

from outlast_sandbox.interface import SandboxSpec
from outlast_sandbox.providers.local import inside

FOLDER: Final = "/tmp/.outlast"
WORKSPACE: Final = "/workspace"
RUNNING: Final = "running"
RELAY_MARK: Final = "outlast-relay"
_MAIN: Final = f"{FOLDER}/inside/hosted.py"
_BOOT: Final = (
    "import base64, io, os, sys, tarfile; "
    f"os.makedirs({FOLDER!r}, 0o700, True); "
    "data = base64.b64decode(sys.argv.pop(1)); "
    f"tarfile.open(fileobj=io.BytesIO(data)).extractall({FOLDER!r}); "
    f"sys.path.insert(0, {FOLDER!r}); "
    "from inside.hosted import main; main(sys.argv[1:])"
)
_DENO: Final = f'mkdir -p {FOLDER}/bin; deno=$(command -v deno) && ln -sf "$deno" {FOLDER}/bin/deno; '
_OURS: Final = {"PYTHONUNBUFFERED": "1", "NO_COLOR": "1", "DENO_NO_UPDATE_CHECK": "1", "DENO_NO_PROMPT": "1"}


def new_nonce(owner: str) -> str:
    """Names the connections of one server process: the server, then the process. A new process of the same server ends
    the connections of the earlier one, and leaves those of other servers unchanged."""
    return f"{hashlib.sha256(owner.encode()).hexdigest()[:12]}-{secrets.token_hex(8)}"


def start_command(spec: SandboxSpec, nonce: str) -> str:
    """A shell command that starts the agent and prints `running` once it answers. Repeatable."""
    config = {
        "env": {**_OURS, **spec.env},
        "rlimits": [],
        "disk_bytes": spec.limits.disk_bytes,
        "layers": list(spec.layers),
        "workspace": "~" if spec.home_is_workspace else WORKSPACE,
    }
    words = [_pack_agent(), "start", base64.b64encode(json.dumps(config).encode()).decode(), nonce]
    return _DENO + shlex.join(["python3", "-I", "-c", _BOOT, *words])


def find_command(nonce: str) -> str:
    """A shell command that prints `running` if the agent still answers."""
    return shlex.join(["python3", "-I", "-S", _MAIN, "find", nonce])


def relay_words(nonce: str) -> list[str]:
    """The command line of one connection to the agent."""
    return ["python3", "-I", "-S", _MAIN, "relay", nonce, RELAY_MARK]


def dial_words(port: int, nonce: str) -> list[str]:
    """The command line of one connection to a port inside: first it prints `+`, or `!` if nothing listens."""
    return ["python3", "-I", "-S", _MAIN, "dial", str(port), nonce, RELAY_MARK]


@functools.cache
def _pack_agent() -> str:
    """The agent's source, about 40 KB in base64."""
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as tar:
        for path in sorted(Path(inside.__file__).parent.glob("*.py")):
            tar.add(path, f"inside/{path.name}", filter=_plain)
    return base64.b64encode(target.getvalue()).decode()


def _plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mode = 0o644
    return entry

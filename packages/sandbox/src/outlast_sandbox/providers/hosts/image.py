"""Outlast's agent and tools in an image on a host: made once for each base image, by archive and commit."""

import functools
import hashlib
import io
import os
import tarfile
import tempfile
from pathlib import Path
from typing import IO, Any, Final

import anyio.to_thread

from outlast_sandbox.errors import SandboxUnavailable
from outlast_sandbox.providers.docker.engine import Engine, EngineRefused
from outlast_sandbox.providers.local.base_layer import TOOLS, BaseLayer
from outlast_sandbox.providers.local.etc_files import HOME

FORMAT: Final = "1"
REPOSITORY: Final = "localhost/outlast-sandbox"
MACHINES: Final = {"amd64": "x86_64", "arm64": "aarch64"}
EMPTY_FOLDERS: Final = ("workspace", HOME.lstrip("/"))  # for any user: a container has one besides its relays


async def prepare_image(engine: Engine, image: str, base: BaseLayer) -> str:
    """The name of the image that sandboxes start from, made from `image` if the host does not have it yet (some 250 MB
    are sent then). Idempotent, also from two servers at once. Raises `SandboxUnavailable`."""
    found = await engine.is_there(image)
    if found is None:
        raise SandboxUnavailable(
            f"The image {image!r} is not there: {engine.address}.", hint=f"On that machine: docker pull {image}"
        )
    tools = next(path for path, inside in base.read_only if inside == TOOLS)
    own_machine = MACHINES.get(str(found.get("Architecture")), "") == os.uname().machine
    facts = f"{FORMAT} {found['Id']} {tools.parent.name} {own_machine}"
    tag = hashlib.sha256(facts.encode()).hexdigest()[:24]
    name = f"{REPOSITORY}:{tag}"
    if await engine.is_there(name) is None:
        await _make(engine, image, tag, tools, own_machine)
    return name


async def _make(engine: Engine, image: str, tag: str, tools: Path, programs: bool) -> None:
    helper = f"outlast-image-{tag[:8]}-{os.urandom(4).hex()}"
    body: dict[str, Any] = {"Image": image, "Entrypoint": [], "Cmd": ["true"], "HostConfig": {"NetworkMode": "none"}}
    try:
        await engine.create(helper, body)
        archive = await anyio.to_thread.run_sync(functools.partial(_pack, tools, programs))
        with archive:
            await engine.unpack(helper, archive)
        await engine.commit(helper, REPOSITORY, tag)
    except EngineRefused as error:
        raise SandboxUnavailable(f"No image could be made from {image!r} ({engine.address}): {error}") from error
    finally:
        with anyio.move_on_after(30, shield=True):
            await engine.remove(helper)


def _pack(tools: Path, programs: bool) -> IO[bytes]:
    """A tar of the tools and empty folders, all owned by root. `programs`: False leaves out Deno and Node, which are
    for another processor."""
    target: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # the caller closes it
    with tarfile.open(fileobj=target, mode="w") as tar:
        for folder in EMPTY_FOLDERS:
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o777
            tar.addfile(entry, io.BytesIO())
        for part in sorted(tools.iterdir()):
            if programs or part.name == "inside":
                tar.add(part, f"{TOOLS.lstrip('/')}/{part.name}", filter=_of_root)
    target.seek(0)
    return target


def _of_root(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mode = entry.mode & 0o755 | 0o444
    return entry

"""Installs packages that are MCP servers: once on each node, as a snapshot that their sandboxes start from.

The package indexes are open for the build only. What was installed first is pinned by its version and by a hash of its
files and of the versions beside it; another node must get the same.
"""

import shlex
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

import anyio
import orjson

from outlast.base.mcp_errors import McpServerFailed
from outlast.kernel.agents.mcp import Package
from outlast_sandbox.interface import Command, Limits, Sandbox, SandboxProvider, SandboxSpec, SnapshotRecipe
from outlast_sandbox.recipes import recipe_of

MEBIBYTE: Final = 1024 * 1024
OURS: Final = "mcpbox_"  # ids that the sweep of sandboxes leaves alone; `reconcile` ends those of an earlier server
LOOK_S: Final = 60.0
_PROBE: Final = (Path(__file__).with_name("package_probe.txt")).read_text()


class Installed(NamedTuple):
    """A package as it was first installed: its version, a hash of its files, and the program that starts it."""

    version: str
    digest: str
    program: list[str]


def limits(memory_mb: int) -> Limits:
    """Of a sandbox of a package."""
    return Limits(memory_bytes=memory_mb * MEBIBYTE, cpu_count=1.0, processes=128)


@asynccontextmanager
async def sandbox_of(provider: SandboxProvider, spec: SandboxSpec) -> AsyncIterator[Sandbox]:
    """A sandbox that ends with the block."""
    box = await provider.create(spec)
    try:
        yield box
    finally:
        with anyio.CancelScope(shield=True):
            await box.kill()


@asynccontextmanager
async def empty_sandbox(provider: SandboxProvider, ref: str, memory_mb: int) -> AsyncIterator[Sandbox]:
    """A sandbox with the package and an empty workspace, without network."""
    with TemporaryDirectory(prefix="outlast-mcp-", ignore_cleanup_errors=True) as folder:
        workspace = Path(folder) / "workspace"
        spec = SandboxSpec(f"{OURS}{token_hex(12)}", workspace, limits(memory_mb), snapshot_ref=ref)
        async with sandbox_of(provider, spec) as box:
            yield box


async def install(
    provider: SandboxProvider, server: str, package: Package, pinned: Installed | None, memory_mb: int
) -> tuple[str, Installed]:
    """The ref of the package's snapshot, built if it is missing, and what is in it. Raises `McpServerFailed` if it is
    no MCP server's package or not the one that was `pinned`, and `SandboxUnavailable`."""
    if not (provider.capabilities.snapshot and provider.capabilities.interactive and provider.capabilities.volume):
        raise McpServerFailed(
            f"The MCP server {server} is a package, which sandboxes of {provider.name} cannot run.",
            hint='Set provider = "local" in the section [sandbox].',
            server=server,
        )
    version = pinned.version if pinned is not None else package.version
    exact, first = await _recipe(provider, package, version), await _recipe(provider, package, package.version)
    for recipe in (exact, first):
        # The snapshot of the newest version stays what it was when it was built.
        if pinned is not None and await provider.has_snapshot(recipe.name):
            found = await _look(provider, server, package, recipe.name, memory_mb)
            if found == pinned:
                return recipe.name, found
    built = await provider.build_snapshot(exact, lambda _step, _output: None)
    found = await _look(provider, server, package, built.ref, memory_mb)
    if pinned is not None and found != pinned:
        raise McpServerFailed(
            f"The package of the MCP server {server} is not the one that was installed first",
            hint="Remove the server and add it again, then look at its tools.",
            server=server,
        )
    return built.ref, found


async def _recipe(provider: SandboxProvider, package: Package, version: str) -> SnapshotRecipe:
    sign = "@" if package.source == "npm" else "=="
    name = f"{package.source}:{package.name}" + (f"{sign}{version}" if version else "")
    recipe = recipe_of([name], (), {}, await provider.base_identity())
    assert recipe is not None
    return recipe


async def _look(provider: SandboxProvider, server: str, package: Package, ref: str, memory_mb: int) -> Installed:
    """What a snapshot has installed."""
    words = shlex.join(["python3", "-c", _PROBE, package.source, package.name])
    async with empty_sandbox(provider, ref, memory_mb) as box:
        result = await box.run(Command("look", 1, words, timeout_s=LOOK_S))
    try:
        found: dict[str, Any] = orjson.loads(result.output)
        return Installed(str(found["version"]), str(found["digest"]), [str(word) for word in found["program"]])
    except (orjson.JSONDecodeError, KeyError, TypeError):
        raise McpServerFailed(
            f"The package {package.name} of the MCP server {server} has no program that could be started.",
            hint="Check the name of the package.",
            server=server,
        ) from None

"""`create_or_update_files` and `read_files`: the workspace's files by relative path."""

from typing import Annotated, Any

import orjson
from pydantic import Field

from outlast.base.errors import DiskFull, NotFound, PathRefused
from outlast.kernel.agents.arguments import Arguments
from outlast.kernel.agents.context import Context
from outlast.kernel.agents.tool import Tool, ToolResult, tool
from outlast.kernel.agents.tools.limits import WORKSPACE_FULL
from outlast.kernel.agents.workspaces import Workspaces
from outlast.kernel.sandboxes.shapes import FileChange
from outlast_sandbox.interface import Sandbox

READ_BYTES = 100_000


class NewFile(Arguments):
    path: str = Field(min_length=1, max_length=500, description="Relative to the workspace.")
    content: str = Field(max_length=1_000_000)


def write_files_tool(workspaces: Workspaces) -> Tool:
    """`create_or_update_files` over these workspaces."""

    @tool(repeatable=True, changes_files=True)
    async def create_or_update_files(
        ctx: Context, files: Annotated[list[NewFile], Field(min_length=1, max_length=100)]
    ) -> ToolResult:
        """Write whole files in the workspace. Paths are relative; missing folders are created."""
        contents = [(file.path, file.content.encode()) for file in files]
        workspace = await workspaces.open(ctx)
        try:
            await workspace.sandbox.write_files(contents)
        except DiskFull as error:  # the sandbox's own disk; the server's would end the leg
            return ToolResult(f"Nothing was written: {error.message}. {WORKSPACE_FULL}", is_error=True)
        changes = tuple(FileChange(path=path, size_bytes=len(content)) for path, content in contents)
        told = "\n".join(f"{path} ({len(content)} bytes)" for path, content in contents)
        return ToolResult(f"Written:\n{told}", files=changes)

    return create_or_update_files


def read_files_tool(workspaces: Workspaces) -> Tool:
    """`read_files` over these workspaces."""

    @tool(repeatable=True)
    async def read_files(
        ctx: Context,
        paths: Annotated[list[str], Field(min_length=1, max_length=50, description="Relative to the workspace.")],
    ) -> ToolResult:
        """Read files of the workspace. Paths are relative, without '@' aliases."""
        for path in paths:
            if path.startswith("@"):
                raise PathRefused(f"The path {path!r} uses an alias; read_files takes relative paths only.", path=path)
        workspace = await workspaces.open(ctx)
        files = [await _read(workspace.sandbox, path) for path in paths]
        failed = all("error" in file for file in files)
        return ToolResult(orjson.dumps(files, option=orjson.OPT_INDENT_2).decode(), is_error=failed)

    return read_files


async def _read(sandbox: Sandbox, path: str) -> dict[str, Any]:
    try:
        content = await sandbox.read_file(path, READ_BYTES + 1)
    except NotFound:
        return {"path": path, "error": "no such file"}
    text = content[:READ_BYTES].decode("utf-8", "replace")
    return {"path": path, "content": text, "truncated": len(content) > READ_BYTES}

"""`create_or_update_files` and `read_files`: the workspace's files by relative path."""

from collections.abc import Mapping
from typing import Any, ClassVar

import orjson
from pydantic import Field

from outlast.base.errors import DiskFull, NotFound, PathRefused
from outlast.base.events import FileChange
from outlast.kernel.agents.tools.base import Arguments, ToolBase
from outlast.kernel.agents.tools.limits import WORKSPACE_FULL
from outlast.kernel.agents.workspaces import Workspaces
from outlast.kernel.runs.profile import ToolContext, ToolResult

READ_BYTES = 100_000


class NewFile(Arguments):
    path: str = Field(min_length=1, max_length=500, description="Relative to the workspace.")
    content: str = Field(max_length=1_000_000)


class WriteArguments(Arguments):
    files: list[NewFile] = Field(min_length=1, max_length=100)


class ReadArguments(Arguments):
    paths: list[str] = Field(min_length=1, max_length=50, description="Relative to the workspace.")


class WriteFiles(ToolBase):
    name: ClassVar[str] = "create_or_update_files"
    description: ClassVar[str] = (
        "Write files in the workspace, each whole. Paths are relative; folders are made."
    )
    arguments: ClassVar[type[Arguments]] = WriteArguments
    repeatable: ClassVar[bool] = True
    changes_files: ClassVar[bool] = True

    def __init__(self, workspaces: Workspaces) -> None:
        self._workspaces = workspaces

    async def run(self, context: ToolContext, arguments: Mapping[str, Any]) -> ToolResult:
        asked = WriteArguments.model_validate(dict(arguments))
        contents = [(file.path, file.content.encode()) for file in asked.files]
        workspace = await self._workspaces.open(context)
        try:
            await workspace.sandbox.write_files(contents)
        except DiskFull as error:  # the sandbox's own disk; the server's would end the leg
            return ToolResult(f"Nothing was written: {error.message}. {WORKSPACE_FULL}", is_error=True)
        changes = tuple(FileChange(path=path, size_bytes=len(content)) for path, content in contents)
        told = "\n".join(f"{path} ({len(content)} bytes)" for path, content in contents)
        return ToolResult(f"Written:\n{told}", files=changes)


class ReadFiles(ToolBase):
    name: ClassVar[str] = "read_files"
    description: ClassVar[str] = "Read files of the workspace. Paths are relative, without '@' aliases."
    arguments: ClassVar[type[Arguments]] = ReadArguments
    repeatable: ClassVar[bool] = True

    def __init__(self, workspaces: Workspaces) -> None:
        self._workspaces = workspaces

    async def run(self, context: ToolContext, arguments: Mapping[str, Any]) -> ToolResult:
        asked = ReadArguments.model_validate(dict(arguments))
        for path in asked.paths:
            if path.startswith("@"):
                raise PathRefused(
                    f"The path {path!r} uses an alias; read_files takes relative paths only.", path=path
                )
        workspace = await self._workspaces.open(context)
        files: list[dict[str, Any]] = []
        for path in asked.paths:
            try:
                content = await workspace.sandbox.read_file(path, READ_BYTES + 1)
            except NotFound:
                files.append({"path": path, "error": "no such file"})
                continue
            text = content[:READ_BYTES].decode("utf-8", "replace")
            files.append({"path": path, "content": text, "truncated": len(content) > READ_BYTES})
        failed = all("error" in file for file in files)
        return ToolResult(orjson.dumps(files, option=orjson.OPT_INDENT_2).decode(), is_error=failed)

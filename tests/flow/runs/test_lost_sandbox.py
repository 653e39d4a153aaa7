"""A sandbox that goes away under a run: the run is told, gets a new one over the same files, and goes on."""

from pathlib import Path

import orjson

from outlast.base.clock import SystemClock
from outlast.db.database import Database
from outlast.kernel.agents.tools.files import read_files_tool, write_files_tool
from outlast.kernel.agents.tools.terminal import terminal_tool
from outlast.kernel.agents.workspaces import Workspaces
from outlast.kernel.models.protocol import NOTE_MARK, ModelRequest, TextPiece, ToolResultPiece
from outlast.kernel.runs.tool_calls import LOST_TEXT
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast.testing.scripted_model import Call, ScriptedModel, Turn, turn
from outlast_sandbox.providers.memory import MemoryProvider
from tests.flow.harness import stage

SANDBOX = SandboxSettings(command_timeout_s=60, output_bytes=10_000)


async def test_a_lost_sandbox_is_replaced_told_of_and_the_run_goes_on(db: Database, tmp_path: Path) -> None:
    async with MemoryProvider() as provider:
        machines = SandboxManager(db, provider, SystemClock(), SandboxSettings(), tmp_path / "machines")
        rooms = Workspaces(db, machines)

        def next_turn(request: ModelRequest) -> Turn:
            number = sum(1 for message in request.messages if message.role == "assistant")
            if number == 1:
                provider.lose(provider.created[-1])
            return turns[number]

        turns = [
            turn(Call("create_or_update_files", {"files": [{"path": "a.txt", "content": "kept"}]})),
            turn(Call("read_files", {"paths": ["a.txt"]})),
            turn("Still there."),
        ]
        tools = (write_files_tool(rooms), read_files_tool(rooms), terminal_tool(rooms, SANDBOX))
        async with stage(db, tmp_path, ScriptedModel(next_turn), *tools) as it:
            started = await it.start()
            events = await it.events(started.run_id)
            names = [event["event"] for event in events]
            assert names.count("context.lost") == 1
            assert names[-2:] == ["run.completed", "stream.ended"]
            *_, results, note = it.model.requests[2].messages
            (read,) = results.pieces
            assert isinstance(read, ToolResultPiece)
            assert orjson.loads(read.content)[0]["content"] == "kept"  # it stood behind the notice, and was no JSON
            assert (note.role, note.pieces) == ("user", (TextPiece(f"{NOTE_MARK} {LOST_TEXT}"),))
            (shown,) = [e["data"] for e in events if e["event"] == "tool_call.result" and "kept" in e["data"]["result"]]
            assert shown["result"] == read.content
            answer = (await it.messages())[-1]
            assert [part.code for part in answer.parts if part.type == "notice"] == ["context_lost"]
        await machines.aclose()

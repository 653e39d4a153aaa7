"""Thinking that a provider demands back, through a whole server and over the wire: in a run, and in the next one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import httpx
import orjson
import pytest

from outlast.testing.model_server import Answer, ModelServer
from tests.flow.program.serving import served

pytestmark = pytest.mark.timeout(180)
CONFIG = """
[server]
port = 0
data_dir = "{folder}"
[providers.deepseek]
kind = "openai-compatible"
base_url = "{url}/v1"
[[models]]
id = "thinker"
provider = "deepseek"
name = "deepseek-reasoner"
reasoning = {{ effort = "low" }}
[sandbox]
provider = "none"
"""
CALL = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "terminal", "arguments": "{}"}}


def chunked(*deltas: dict[str, Any], finish: str) -> Answer:
    """An answer as DeepSeek streams it: its thinking is in `reasoning_content`."""
    head: dict[str, Any] = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "deepseek-reasoner"}
    choices: list[dict[str, Any]] = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": finish})
    usage = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
    lines = [{**head, "choices": [choice]} for choice in choices] + [{**head, "choices": [], "usage": usage}]
    events = "".join(f"data: {orjson.dumps(line).decode()}\n\n" for line in lines)
    return Answer(events=f"{events}data: [DONE]\n\n")


async def ask(client: httpx.AsyncClient, path: str, content: str) -> dict[str, Any]:
    """A run, followed to its end."""
    answer = await client.post(path, json={"content": content})
    assert answer.status_code == 202, answer.text
    started: dict[str, Any] = answer.json()
    events = await client.get(f"/v1/runs/{started['run_id']}/events")
    assert '"run.completed"' in events.text, events.text
    return started


def with_calls(body: dict[str, Any]) -> list[dict[str, Any]]:
    return [one for one in body["messages"] if one["role"] == "assistant" and one.get("tool_calls")]


async def test_thinking_before_a_call_goes_back_in_the_run_and_in_the_next_one(tmp_path: Path) -> None:
    """DeepSeek answers 400 to a transcript with a call whose thinking is missing: no tool could be used."""
    first = chunked(
        {"role": "assistant", "reasoning_content": "Let me "},
        {"reasoning_content": "look."},
        {"content": "Looking."},
        {"tool_calls": [CALL]},
        finish="tool_calls",
    )
    done = chunked({"role": "assistant", "content": "There is no terminal."}, finish="stop")
    async with ModelServer([first, done, done]) as model:
        config = tmp_path / "outlast.toml"
        config.write_text(CONFIG.format(folder=tmp_path / "data", url=model.base_url))
        running = served(config)
        url = await anyio.to_thread.run_sync(running.__enter__)
        try:
            async with httpx.AsyncClient(base_url=url, timeout=60) as client:
                started = await ask(client, "/v1/runs", "What is in the folder?")
                await ask(client, f"/v1/threads/{started['thread_id']}/runs", "And now?")
        finally:
            await anyio.to_thread.run_sync(running.__exit__, None, None, None)
        bodies = [request.body for request in model.requests]
        assert len(bodies) == 3
        assert with_calls(bodies[0]) == []
        assert [body.get("reasoning_effort") for body in bodies] == ["low"] * 3  # as the configuration says
        for body in bodies[1:]:
            (made,) = with_calls(body)
            assert made["reasoning_content"] == "Let me look."
            assert made["tool_calls"][0]["id"] == "call_1"
        told = [one for one in bodies[1]["messages"] if one["role"] == "tool"]
        assert [one["tool_call_id"] for one in told] == ["call_1"]

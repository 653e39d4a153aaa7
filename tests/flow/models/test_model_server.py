"""The model server as a tool for other tests: directives, scripts added over HTTP, and as a program."""

import json
import sys
from pathlib import Path

import aiohttp
import anyio
import pytest

from outlast.kernel.models.catalog import ModelCatalog
from outlast.kernel.models.protocol import ModelMessage, ModelRequest, ToolResultPiece
from outlast.kernel.models.settings import ModelSettings, ProviderConfig
from outlast.testing.model_server import ANSWERS
from tests.flow.models.rig import KINDS, listen, rigged, user

TURNS = '[[model [{"text": "Looking.", "calls": [{"name": "terminal"}, {"name": "terminal"}]}, {"text": "Done."}]]]'


@pytest.mark.parametrize("kind", KINDS)
async def test_a_message_may_carry_its_own_turns(kind: str) -> None:
    async with rigged(kind) as rig:
        question = user(f"Please. {TURNS}")
        first = await listen(rig.model, rig.request(question))
        assert (first.text, len(first.calls)) == ("Looking.", 2)
        results = [ToolResultPiece(call.call_id, call.name, "fine") for call in first.calls]
        told = [
            question,
            ModelMessage("assistant", first.calls, first.end.opaque),
            ModelMessage("tool", tuple(results)),
        ]
        second = await listen(rig.model, rig.request(*told))
        assert (second.text, second.calls) == ("Done.", ())
        third = await listen(rig.model, rig.request(*told, user("Thanks.")))
        assert third.text == "Hello from the model server."


async def test_answers_are_added_over_http_and_requests_read_back() -> None:
    async with rigged("openai-compatible") as rig, aiohttp.ClientSession(rig.server.base_url) as client:
        assert (await client.post("/script", json=[{"text": "Scripted."}])).status == 200
        assert (await client.post("/script", json=[{"nonsense": 1}])).status == 400
        waiting = await client.put("/script", json=[{"text": "Scripted."}])
        assert await waiting.text() == "1 answers waiting", "what was waiting is replaced"
        assert (await listen(rig.model, rig.request())).text == "Scripted."
        seen = await (await client.get("/requests")).json()
        assert seen[0]["path"] == "/v1/chat/completions"
        assert "authorization" not in json.dumps(seen).lower()


async def test_it_runs_as_a_program(tmp_path: Path) -> None:
    script = tmp_path / "answers.json"
    script.write_text(json.dumps([{"text": "From a file."}]))
    command = [sys.executable, "-m", "outlast.testing.model_server", "--script", str(script)]
    async with await anyio.open_process(command) as program:
        assert program.stdout is not None
        url = (await program.stdout.receive()).decode().strip()
        config = ProviderConfig("vllm", f"{url}/v1", name="fake")
        catalog = ModelCatalog([config], [ModelSettings("m", "fake", "m")], secret=lambda name: None)
        try:
            heard = await listen(catalog.language_model("fake"), ModelRequest(catalog.default, "", (user("Hi"),)))
            assert (heard.text, heard.end.usage.cost_usd) == ("From a file.", 0.0)
        finally:
            await catalog.aclose()
            program.terminate()


def test_an_unknown_answer_is_refused() -> None:
    with pytest.raises(ValueError, match="fault"):
        ANSWERS.validate_python([{"fault": "no_such_fault"}])

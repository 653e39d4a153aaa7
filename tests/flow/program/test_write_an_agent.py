"""The guide for agents, followed as it is written: a folder, `outlast dev`, a saved file, an approved tool call."""

from __future__ import annotations

import json
import re
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.flow.program.serving import CONFIG, served
from tests.flow.program.test_dev import agents_at

ROOT = Path(__file__).resolve().parents[3]
GUIDES = "".join(
    (ROOT / "docs" / "guides" / name).read_text() for name in ("write-an-agent.md", "what-agents-can-do.md")
)
FILES = dict(re.findall(r'```python title="agents/(\w+\.py)"\n(.*?)```', GUIDES, re.DOTALL))


def asked(address: str, path: str, body: object = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address + path, data, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def events_of(address: str, run_id: str) -> Iterator[Any]:
    with urllib.request.urlopen(f"{address}/v1/runs/{run_id}/events", timeout=60) as stream:
        yield from (json.loads(line[6:]) for line in stream if line.startswith(b"data: "))


def approve_refund(address: str, run_id: str) -> None:
    """Follow the run to its end."""
    for event in events_of(address, run_id):
        if event["event"] == "approval.requested":
            assert event["data"]["approval"]["reason"] == "Refunds need a person"
            asked(address, f"/v1/approvals/{event['data']['approval']['id']}", {"decision": "approve"})


def test_the_files_of_the_guides_are_those_of_the_examples() -> None:
    names = ("support_desk", "triage", "weekly_digest", "front_desk", "price_watch", "run_it", "order_desk", "charts")
    assert set(FILES) == {f"{name}.py" for name in (*names, "careful_desk")}
    for name, text in FILES.items():
        assert (ROOT / "examples" / "agents" / name).read_text().endswith(f"\n\n{text}")


def test_an_empty_folder_becomes_an_agent_whose_refund_a_person_approves(tmp_path: Path) -> None:
    folder, config = tmp_path / "agents", tmp_path / "outlast.toml"
    folder.mkdir()
    config.write_text(CONFIG.format(folder=tmp_path / "data"))
    with served(config, "dev") as address:
        for name, text in FILES.items():
            (folder / name).write_text(text)
        agents_at(address, lambda found: len(found["items"]) == 10)

        started = asked(address, "/v1/runs", {"content": "Refund 900 cents of order B-17", "profile": "support"})
        approve_refund(address, started["run_id"])
        answer = asked(address, f"/v1/threads/{started['thread_id']}/messages")["items"][-1]
        assert answer["profile"] == "support"
        assert "900 cents were paid back for B-17" in answer["parts"][-1]["text"]

        content = '/call transfer_to_support {"reason": "Refund 900 cents of order B-17"}'
        started = asked(address, "/v1/runs", {"content": content, "profile": "front-desk"})
        [*_, handoff] = [event for event in events_of(address, started["run_id"]) if event["event"] == "part.completed"]
        approve_refund(address, handoff["data"]["part"]["run_id"])
        _, first, answer = asked(address, f"/v1/threads/{started['thread_id']}/messages")["items"]
        assert [first["profile"], answer["profile"]] == ["front-desk", "support"]
        assert "900 cents were paid back for B-17" in answer["parts"][-1]["text"]

        drawn = asked(address, "/v1/runs", {"content": "Price chart of B-17, please", "profile": "charts"})
        assert [event["event"] for event in events_of(address, drawn["run_id"])][-1] == "stream.ended"
        answer = asked(address, f"/v1/threads/{drawn['thread_id']}/messages")["items"][-1]
        assert "tool_call" in [part["type"] for part in answer["parts"]]

        sorted_one = asked(address, "/v1/runs", {"content": "My repair is urgent!", "profile": "triage"})
        assert [event["event"] for event in events_of(address, sorted_one["run_id"])][-1] == "stream.ended"

        digest = asked(address, "/v1/runs", {"content": "Go.", "profile": "weekly-digest"})
        seen = set()
        for event in events_of(address, digest["run_id"]):
            seen.add(event["event"])
            if event["event"] == "question.asked":
                asked(address, f"/v1/questions/{event['data']['question']['id']}", {"answers": {"answer": "yes"}})
        assert "run.completed" in seen
        answer = asked(address, f"/v1/threads/{sorted_one['thread_id']}/messages")["items"][-1]
        verdict = json.loads(answer["parts"][-1]["text"])
        assert verdict == {"topic": "repair", "urgent": True, "summary": "My repair is urgent!"}

"""What agents of the Agent Client Protocol write, and what they read."""

import json
import re
import time
from difflib import unified_diff
from pathlib import Path
from typing import Any

import pytest

from outlast import acp_agent
from outlast.kernel.agents.guests.acp import messages as acp
from outlast.kernel.agents.guests.acp import relay
from outlast.kernel.agents.guests.acp.diffs import Diffs
from outlast.kernel.agents.own_agents import find_own_agents
from outlast.kernel.agents.settings import AgentSettings
from outlast.kernel.models.protocol import Usage
from outlast.kernel.runs import policy

GUIDE = Path(__file__).resolve().parents[5] / "docs" / "guides" / "run-a-coding-agent.md"
KINDS = ("agent_message_chunk", "tool_call", "tool_call_update", "plan", "other")
KEYS = ("title", "kind", "status", "rawInput", "rawOutput", "content", "locations", "path", "text", "type", "resource")


def update(kind: str, /, **fields: Any) -> acp.Event | None:
    params = {"sessionId": "s", "update": {"sessionUpdate": kind, **fields}}
    return acp.parse(json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": params}))


def test_updates_are_texts_calls_and_plans_and_everything_else_is_left_out() -> None:
    said = {"type": "text", "text": "Hi"}
    assert update("agent_message_chunk", content=said) == acp.Text("Hi")
    assert update("agent_thought_chunk", content=said) == acp.Text("Hi", is_thought=True)
    assert update("agent_message_chunk", content={"type": "image", "data": "…"}) == acp.Text("[image]")
    begun, later = (
        update("tool_call", toolCallId="1", title="ls"),
        update("tool_call_update", toolCallId="1", title=None),
    )
    assert isinstance(begun, acp.Call)
    assert isinstance(later, acp.Call)
    assert (begun.call_id, begun.begins, begun.fields["title"]) == ("1", True, "ls")
    assert (later.begins, "title" in later.fields) == (False, False)
    assert update("plan", entries=[{"content": "Look", "status": "pending"}]) == acp.Plan({"Look": "pending"})
    assert update("available_commands_update", availableCommands=[]) is None
    for other in ("", "npm warn", "[]", "[" * 100_000, "3", '{"method": "session/update"}', '{"jsonrpc": "2.0"}'):
        assert acp.parse(other) is None


def test_requests_and_responses_are_told_apart() -> None:
    asked = {"toolCall": {"toolCallId": "1", "kind": "edit"}, "options": [{"optionId": "a", "kind": "allow_once"}]}
    event = acp.parse(json.dumps({"id": 0, "method": "session/request_permission", "params": asked}))
    assert isinstance(event, acp.Asked)
    assert (event.request_id, event.call_id, len(event.options)) == (0, "1", 1)
    assert acp.parse('{"id": 4, "method": "terminal/create", "params": {}}') == acp.Unknown(4, "terminal/create")
    assert acp.parse('{"id": 3, "result": {"stopReason": "end_turn"}}') == acp.Response(3, {"stopReason": "end_turn"})
    error = {"code": -32603, "message": "Internal error", "data": {"details": "no model"}}
    assert acp.parse(json.dumps({"id": 3, "error": error})) == acp.Response(3, {}, "Internal error: no model")


@pytest.mark.parametrize(
    ("kinds", "allow", "chosen"),
    [
        (["allow_always", "allow_once", "reject_once"], True, "1"),
        (["allow_always", "reject_once"], True, "0"),
        (["allow_once", "reject_once", "reject_always"], False, "1"),
        (["allow_once"], False, None),
        ([], True, None),
    ],
)
def test_a_decision_is_for_one_call_if_the_agent_offers_that(kinds: list[str], allow: bool, chosen: str | None) -> None:
    options = [{"optionId": str(number), "kind": kind} for number, kind in enumerate(kinds)]
    outcome = acp.answer(options, allow=allow)["outcome"]
    expected = {"outcome": "cancelled"} if chosen is None else {"outcome": "selected", "optionId": chosen}
    assert outcome == expected


def test_results_are_texts_and_diffs_and_else_what_the_tool_gave() -> None:
    text = {"type": "content", "content": {"type": "text", "text": "done"}}
    diff = {"type": "diff", "path": "/workspace/a.py", "oldText": "a\nb", "newText": "a\nc"}
    assert acp.result_text(acp.kept_of({"content": [text, diff]})).splitlines() == [
        "done",
        "--- a/workspace/a.py",
        "+++ b/workspace/a.py",
        "@@ -1,2 +1,2 @@",
        " a",
        "-b",
        "+c",
    ]
    assert (
        acp.result_text(acp.kept_of({"content": [diff | {"newText": "x\n" * 3_000}]}))
        == "/workspace/a.py: 2 lines before, 3000 after"
    )
    assert acp.result_text(acp.kept_of({"rawOutput": {"output": "7 files"}})) == "7 files"
    assert acp.result_text(acp.kept_of({"rawOutput": {"code": 0}})) == '{"code": 0}'
    assert acp.result_text(acp.kept_of({"status": "completed"})) == ""


def test_arguments_are_the_tools_or_else_what_is_said_about_the_call() -> None:
    assert acp.arguments_of({"rawInput": {"command": "ls"}, "title": "List"}) == {"command": "ls"}
    assert acp.arguments_of({"rawInput": {}, "title": "Edit", "locations": [{"path": "/a"}]}) == {
        "title": "Edit",
        "files": ["/a"],
    }
    assert (acp.tool_of({"kind": "execute"}), acp.tool_of({})) == ("execute", "other")


def test_cached_tokens_are_part_of_the_input_and_thought_of_the_output() -> None:
    told = {"inputTokens": 60, "outputTokens": 1, "cachedReadTokens": 40, "thoughtTokens": 2, "totalTokens": 103}
    assert acp.usage_of({"usage": told}) == Usage(100, 3, 40, 2)
    assert acp.usage_of({"stopReason": "end_turn"}) == Usage()


def test_the_relay_reads_and_writes_files_for_the_agent(tmp_path: Any) -> None:
    def ask(method: str, **params: Any) -> Any:
        told = relay.answer(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}), is_long=False)
        return None if told is None else json.loads(told)

    path = str(tmp_path / "new" / "note.txt")
    assert ask("fs/write_text_file", path=path, content="a\nb\nc\n")["result"] == {}
    assert ask("fs/read_text_file", path=path)["result"] == {"content": "a\nb\nc\n"}
    assert ask("fs/read_text_file", path=path, line=2, limit=1)["result"] == {"content": "b\n"}
    assert "No such file" in ask("fs/read_text_file", path=f"{path}.no")["error"]["message"]
    assert ask("terminal/create", command="ls") is None
    assert relay.answer('{"method": "fs/read_text_file"}', is_long=False) is None


def test_a_request_that_is_too_long_for_the_server_is_refused_by_the_relay() -> None:
    asks = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "session/request_permission", "params": {}})
    told = json.loads(relay.answer(asks, is_long=True) or "")
    assert told["id"] == 7
    assert "at most 4000000 bytes" in told["error"]["message"]
    assert relay.answer(json.dumps({"method": "session/update", "params": {}}), is_long=True) is None
    assert relay.answer("[" * 100_000, is_long=True) is None


def test_an_agent_needs_a_command() -> None:
    assert acp_agent("coder", "opencode acp").sandbox
    with pytest.raises(ValueError, match="coder has no command"):
        acp_agent("coder", " ")


def test_the_agent_of_the_guide_is_one(tmp_path: Any) -> None:
    (shown,) = re.findall(r'```python title="agents/coder.py"\n(.*?)```', GUIDE.read_text(), re.DOTALL)
    (tmp_path / "coder.py").write_text(shown)
    loaded = find_own_agents(AgentSettings(folder=str(tmp_path)))
    assert [agent.title for agents in loaded.values() for agent in agents] == ["OpenCode"]


def test_a_changed_part_of_a_long_file_is_shown_with_its_place() -> None:
    before = [f"line {number}" for number in range(1, 401)]
    after = [*before[:300], "new", *before[301:]]
    whole = list(unified_diff(before, after, "a/f", "b/f", lineterm=""))
    assert Diffs().text("/f", "\n".join(before), "\n".join(after)).split("\n") == whole
    for old, new in (("a\nb\n", ""), ("", "a\nb\n"), ("a\nb\nc", "a\nc"), ("a", "a\na"), ("a", "a")):
        whole = list(unified_diff(old.splitlines(), new.splitlines(), "a/f", "b/f", lineterm=""))
        assert Diffs().text("/f", old, new) == "\n".join(whole)


def test_what_would_take_long_to_compare_is_shown_as_removed_and_added() -> None:
    shown = Diffs().text("/f", "x\n" + "a\nb\n" * 500, "x\n" + "a\n" * 199 + "c\n").split("\n")
    assert shown[2] == "@@ -3,999 +3,199 @@"
    assert [sum(line.startswith(sign) for line in shown) for sign in "-+"] == [1_000, 200]


def test_the_diffs_of_a_result_cost_little_together() -> None:
    hard = {"type": "diff", "path": "/f", "oldText": "a\nb\n" * 30, "newText": "a\n" * 60}
    began = time.process_time()
    text = acp.result_text(acp.kept_of({"content": [hard] * 1_000}))
    acp.result_text(acp.kept_of({"content": [hard | {"oldText": "\n" * 20_000}] * 200}))
    acp.result_text(acp.kept_of({"content": [hard | {"oldText": "a\nb" * 500, "newText": "a\n" * 199}] * 5}))
    assert time.process_time() - began < 0.5
    assert text.endswith("/f: 60 lines before, 60 after")


def test_counts_of_tokens_are_whole_numbers_that_can_be_summed_up() -> None:
    told = {"inputTokens": 2**62, "outputTokens": True, "cachedReadTokens": -4, "thoughtTokens": 1.5}
    assert acp.usage_of({"usage": told}) == Usage(10**9, 0, 0, 0)
    assert acp.usage_of({"usage": dict.fromkeys(told, 10**9)}) == Usage(10**9, 10**9, 10**9, 10**9)


def test_texts_of_an_agent_are_cut_and_can_be_stored() -> None:
    long = "a\0" * 10_000
    call = update("tool_call", toolCallId=long, title=long, kind=long, status=long)
    assert isinstance(call, acp.Call)
    assert {name: len(value) for name, value in call.fields.items()} == {"title": 500, "kind": 80, "status": 20}
    assert len(call.call_id) == 200
    error = acp.parse(json.dumps({"id": 1, "error": {"message": long, "data": long}}))
    assert isinstance(error, acp.Response)
    assert len(error.error) == 1_000
    plan = update(
        "plan", entries=[{"content": f"{number}{long[:400]}", "status": "pending"} for number in range(2_000)]
    )
    assert isinstance(plan, acp.Plan)
    assert (len(plan.entries), {len(entry) for entry in plan.entries}) == (200, {200})
    said = update("agent_message_chunk", content={"type": "text", "text": long})
    session, stop = acp.session_of({"sessionId": long[:900]}), acp.stop_of({"stopReason": long})
    assert acp.session_of({"sessionId": long}) == ""
    kept = acp.kept_of({"rawOutput": long}), acp.kept_of({"rawOutput": {"error": long}})
    assert "\0" not in repr((call, error, plan, said, session, stop, kept)).replace("\\x00", "\0")


WRONG: Any = [
    None,
    True,
    -1,
    2**63,
    1.5,
    "x",
    [],
    [[1]],
    {},
    {"a": 1},
    *(json.loads('{"a":[' * n + "]}" * n) for n in (100, 200)),
]


@pytest.mark.parametrize("wrong", WRONG, ids=range(len(WRONG)))
def test_values_of_wrong_types_are_left_out(wrong: Any) -> None:
    params = {"toolCall": dict.fromkeys(KEYS, wrong) | {"toolCallId": wrong}, "options": wrong}
    events = [update(kind, **dict.fromkeys([*KEYS, "toolCallId", "entries"], wrong)) for kind in KINDS]
    events += [
        update(kind, content=[dict.fromkeys(KEYS, wrong)], entries=[dict.fromkeys(KEYS, wrong)]) for kind in KINDS
    ]
    events += [
        update(kind, content=[{"type": "content", "content": wrong}, {"type": "diff", "oldText": wrong}])
        for kind in KINDS
    ]
    for request_id in (wrong, 1):
        asked = {"id": request_id, "method": "session/request_permission"}
        told = {"message": wrong, "data": wrong}
        messages = [asked | {"params": params}, asked | {"method": wrong}, {"id": request_id, "error": told}]
        messages += [
            {"id": request_id, "result": wrong},
            asked | {"params": {"toolCall": {}, "options": [wrong, {"kind": wrong}]}},
        ]
        events += [acp.parse(json.dumps(one)) for one in messages]
    for event in events:
        if isinstance(event, (acp.Call, acp.Asked)):
            acp.result_text(acp.kept_of(event.fields))
            json.dumps([acp.arguments_of(event.fields), acp.tool_of(event.fields), event.call_id])
            policy.canonical(acp.arguments_of(event.fields))
        if isinstance(event, acp.Asked):
            acp.respond(event.request_id, acp.answer(event.options, allow=True))
        if isinstance(event, acp.Unknown):
            acp.refuse(event.request_id, event.method)
        if isinstance(event, acp.Response):
            acp.usage_of({"usage": dict.fromkeys(["inputTokens", "outputTokens"], wrong)})
            acp.session_of({"sessionId": wrong})
            acp.stop_of({"stopReason": wrong})

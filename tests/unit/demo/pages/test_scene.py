"""What the demo model reads of a request."""

from __future__ import annotations

from outlast.kernel.models.protocol import CHECK_MARK, ModelMessage, ModelRequest, ModelSpec, TextPiece, ToolResultPiece
from outlast_demo.pages.scene import PageScene, is_page, outcome, page_scene, trouble

ASKED = """[SANDBOX MODULES]
- lib/issues.ts: listIssues, changeIssue
  usage: import { listIssues } from './lib/issues.ts?v=2'
- lib/other.py: something

HTML:
<div id="a" data-query="x=1&amp;y=2"><p id="count">3</p></div>
[NOW] is mentioned here

[RECENT CHANGES]
1. "show" → shown

[NOW]
1. Action: close Data: {"issue":"ATL-7"}
2. Action: refresh Data: {}"""


def _request(*messages: ModelMessage) -> ModelRequest:
    return ModelRequest(ModelSpec("demo", "demo", "demo"), 'Lines: {"type":"patches","patches":[]}', messages)


def _user(text: str) -> ModelMessage:
    return ModelMessage("user", (TextPiece(text),))


def test_a_request_is_taken_apart_into_page_modules_memory_and_actions() -> None:
    scene = page_scene(_request(_user(ASKED)))
    assert [(one.name, one.data) for one in scene.actions] == [("close", {"issue": "ATL-7"}), ("refresh", {})]
    assert scene.said == ""
    assert [one.path for one in scene.modules] == ["./lib/issues.ts?v=2", "./lib/other.py"]
    assert scene.attribute("a", "data-query") == "x=1&y=2"
    assert scene.text_of("count") == "3"
    assert '"show" → shown' in scene.before


def test_words_of_a_person_are_no_action_and_results_since_count() -> None:
    result = ToolResultPiece("c", "run_code", '{"success": true, "result": [1]}')
    scene = page_scene(
        _request(_user("HTML:\n(the page is empty)\n\n[NOW]\nshow my issues"), ModelMessage("tool", (result,)))
    )
    assert (scene.said, list(scene.actions)) == ("show my issues", [])
    assert outcome(scene.results[0]) == [1]
    found = page_scene(_request(_user("[NOW]\nx"), _user(f"{CHECK_MARK}\nwrong")))
    assert found.said == "x"
    assert len(found.found) == 1


def test_only_a_pages_agent_is_answered_with_lines() -> None:
    assert is_page(_request(_user("x")))
    assert not is_page(ModelRequest(ModelSpec("demo", "demo", "demo"), "You help people.", (_user("x"),)))


def test_what_failed_is_told_in_one_line() -> None:
    failed = ToolResultPiece("c", "run_code", '{"success": false, "error": "Error: 404\\n  at x"}', is_error=True)
    assert outcome(failed) is None
    assert trouble(failed) == "Error: 404"
    assert trouble(ToolResultPiece("c", "run_code", "", is_error=True)) == "the sandbox gave no reason"
    assert PageScene("").attribute("none", "id") == ""

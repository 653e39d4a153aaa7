"""A run in the terminal: what is printed, and that nothing is printed twice."""

import pytest

from outlast.kernel.cli import run_text as rendering
from outlast.kernel.cli.run_text import Rendering, shorten


@pytest.fixture
def printed(monkeypatch):
    lines: list[str] = []

    class Paper:
        def print(self, text: object = "", end: str = "\n", **_: object) -> None:
            lines.append(f"{text}{end}")

    monkeypatch.setattr(rendering, "out", Paper())
    return lambda: "".join(lines)


def event(name: str, **data):
    return {"event": name, "data": data}


def text_part(text: str, part_id: str = "p1"):
    return {"id": part_id, "type": "text", "text": text}


def call_part(status: str, output: str = "", arguments: str = '{"command":"ls"}'):
    return {
        "id": "c1",
        "type": "tool_call",
        "tool": "terminal",
        "arguments": arguments,
        "status": status,
        "output": output,
    }


def show(*events) -> None:
    paper = Rendering()
    for one in events:
        paper.show(one)


def test_text_is_printed_as_it_comes(printed):
    show(
        event("part.created", part=text_part("")),
        event("text.delta", part_id="p1", delta="Hel"),
        event("text.delta", part_id="p1", delta="lo\n"),
        event("part.completed", part=text_part("Hello\n")),
    )
    assert printed() == "Hello\n"


def test_a_snapshot_after_a_break_adds_only_the_rest(printed):
    show(
        event("text.delta", part_id="p1", delta="Hel"),
        event("part.snapshot", part=text_part("Hello wor")),
        event("text.delta", part_id="p1", delta="ld"),
    )
    assert printed() == "Hello world"


def test_output_that_comes_again_from_its_start_is_not_printed_twice(printed):
    show(
        event("part.completed", part=call_part("pending")),
        event("tool_call.output.delta", part_id="c1", delta="one\ntwo\n"),
        event("step.reset", parts=[call_part("running")]),
        event("tool_call.output.delta", part_id="c1", delta="one\ntw"),
        event("tool_call.output.delta", part_id="c1", delta="o\nthree\n"),
    )
    assert printed().count("one") == 1
    assert printed().endswith("three\n")


def test_a_message_is_shown_where_the_agent_read_it(printed):
    part = {"id": "m1", "type": "message", "message_id": "msg_1", "text": "In French, please"}
    show(
        event("part.completed", part=text_part("Hello")),
        event("part.created", part=part),
        event("text.delta", part_id="p2", delta="Bonjour"),
    )
    assert printed() == "Hello\n▸ In French, please\nBonjour"


def test_a_call_shows_its_tool_and_command_once(printed):
    show(
        event("part.created", part=call_part("streaming", arguments="")),
        event("part.completed", part=call_part("pending")),
        event("part.completed", part=call_part("done", output="a\n")),
        event("tool_call.result", status="done", duration_s=0.25, result="a", part_id="c1"),
    )
    assert printed().count("terminal") == 1
    assert "ls" in printed()
    assert "a\n" in printed()
    assert "done in 0.2 s" in printed()


def test_an_error_says_what_to_do(printed):
    error = {"code": "model_overloaded", "message": "The model is overloaded.", "hint": "Retry it."}
    show(event("run.error", run_id="run_1", error=error))
    assert "The model is overloaded. Retry it." in printed()


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ('{"command": "ls -l"}', "ls -l"),
        ('{"command": "a\\nb"}', "a ⏎ b"),
        ('{"a": 1, "b": 2}', '{"a":1,"b":2}'),
        ('{"unfinished', '{"unfinished'),
        ('"' + "x" * 1000 + '"', "x" * 400 + " …"),
    ],
)
def test_arguments_fit_on_one_line(arguments, line):
    assert shorten(arguments) == line


def workflow(name: str, status: str, detail: str = "", duration_s: float | None = None):
    step = {"run_id": "run_1", "name": name, "status": status, "detail": detail, "duration_s": duration_s}
    return {"event": "workflow.step", "data": step}


def test_named_steps_are_shown_as_they_begin_and_end_but_not_what_goes_without_saying(printed):
    show(
        workflow("open_sandbox", "started"),
        workflow("open_sandbox", "done", "a new one", 3.21),
        workflow("tell_context_lost", "skipped"),
        workflow("agent", "started"),
        workflow("check", "failed", "2 type errors", 0.9),
        workflow("save_answer", "done"),
    )
    assert printed() == (
        "• open sandbox …\n"
        "  open sandbox: done in 3.2 s · a new one\n"
        "• check types and the page: failed: 2 type errors\n"
    )


def test_what_a_step_made_of_a_page_is_told_once(printed):
    part = {"id": "g1", "type": "page", "patches": 2, "whole": False, "refused": 1, "version": 7}
    show(event("part.created", part=part), event("part.completed", part=part))
    assert printed() == "▸ page: 2 changes, now version 7; 1 could not be applied\n"
    show(event("part.completed", part={**part, "patches": 0, "refused": 0, "whole": True}))
    assert "page: rewritten, now version 7" in printed()

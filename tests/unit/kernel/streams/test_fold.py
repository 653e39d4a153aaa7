"""The fold against the cases it shares with its TypeScript twin."""

import copy
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson
import pytest

from outlast.base.events import event_adapter
from outlast.kernel.apps import registry
from outlast.kernel.streams.fold import RunFold, apply
from tests.thread_fold import ThreadFold, apply_to_thread, run_of_event

CASES = sorted((Path(__file__).parents[4] / "contract" / "cases").glob("*.json"))


def shown(state: Any) -> dict[str, Any]:
    """A state as plain JSON, as the cases write it."""
    plain = asdict(state)
    plain.pop("last_seq", None)
    for run in plain.get("runs", {}).values():
        run.pop("last_seq")
    return plain


def begin(case: dict[str, Any]) -> Any:
    start = copy.deepcopy(case["start"])
    if case["kind"] == "run":
        return RunFold(**start)
    runs = {run_id: RunFold(**run) for run_id, run in start.pop("runs").items()}
    return ThreadFold(**start, runs=runs)


def test_there_are_cases() -> None:
    assert len(CASES) > 10


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_the_fold_tells_each_story_as_the_shared_cases_do(path: Path) -> None:
    case = orjson.loads(path.read_bytes())
    state = begin(case)
    fold = apply if case["kind"] == "run" else apply_to_thread
    expected = case["start"]
    assert shown(state) == expected
    for number, step in enumerate(case["steps"], start=1):
        fold(state, copy.deepcopy(step["event"]))
        expected = {**expected, **step["changes"]}
        assert shown(state) == expected, f"after event {number}, {step['event']['event']}"


@pytest.mark.apps
@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_the_shared_cases_use_events_that_exist(path: Path) -> None:
    for step in orjson.loads(path.read_bytes())["steps"]:
        if not step["event"]["event"].startswith("x."):
            event_adapter(registry.load().events).validate_python(step["event"])


def test_an_event_of_an_unknown_name_changes_nothing() -> None:
    state = RunFold(run_id="run_1")
    before = shown(state)
    event = {"event": "moon.rose", "data": {"run_id": "run_1"}, "id": "run_1:7", "sequenceNumber": 7}
    apply(state, event)
    assert shown(state) == before
    assert state.last_seq == 7


def test_the_run_of_an_event_is_the_one_it_names_else_the_one_of_its_log() -> None:
    assert run_of_event({"id": "thr_1:4", "data": {"run_id": "run_2"}}) == "run_2"
    assert run_of_event({"id": "run_2:4", "data": {"part_id": "prt_1"}}) == "run_2"
    assert run_of_event({"id": "thr_1:4", "data": {}}) is None


def test_a_text_in_many_pieces_is_folded_in_steps_that_grow_with_its_length() -> None:
    """Each piece copied all that was there: reading a run of two megabytes took half a minute."""
    state = RunFold()
    state.put({"id": "prt_1", "type": "tool_call", "arguments": "", "output": "", "step": 1})
    began = time.process_time()
    for number in range(80_000):
        data = {"part_id": "prt_1", "delta": "x" * 12}
        apply(state, {"event": "tool_call.arguments.delta", "sequenceNumber": number, "data": data})
    assert len(state.parts[0]["arguments"]) == 960_000
    assert time.process_time() - began < 3, "it is 0.1 s; it was 10"

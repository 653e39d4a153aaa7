"""One run for people: how it stands, in a few lines."""

from typing import Any

from outlast.kernel.cli.run_text import shorten
from outlast.kernel.cli.session import command_line
from outlast.kernel.cli.terminal import one_line, print_fields
from outlast.kernel.cli.units import count

ANSWER_LINES = 12
DECISIONS = {"approval": "approve", "question": "answer"}
FIELDS = "run=id state thread agent started=created_at by duration=duration_s work usage failed problems waits answer"


def print_run(run: dict[str, Any]) -> None:
    """A run as the API answers it."""
    usage, error = run["usage"], run["error"]
    reason = run["waiting_for"] or run["stop_reason"]
    computed = {
        "state": f"{run['status']} ({reason})" if reason else run["status"],
        "thread": f"{one_line(run['thread_title'])} ({run['thread_id']})",
        "agent": f"{run['profile']}, {run['model']}",
        "by": run["started_by_name"] or "an agent",
        "work": f"{count(run['step_count'], 'step')}, {count(run['tool_count'], 'tool call')}",
        "usage": f"{usage['input_tokens']:,} tokens in, {usage['output_tokens']:,} out",
        "failed": f"{error['message']}\n{error['hint']}" if error else None,
        "problems": "\n".join(one_line(str(problem)) for problem in run["problems"]),
        "waits": "\n".join(map(_pending, run["pending"])),
        "answer": _answer(run),
    }
    print_fields(run, FIELDS, computed)


def _pending(item: dict[str, Any]) -> str:
    """What a person has to decide, and the command that does it."""
    if item["kind"] == "approval":
        asked = f"{item['tool']} {shorten(item['arguments'])}"
    else:
        asked = " ".join(question["question"] for question in item["questions"])
    command = f"runs {DECISIONS[item['kind']]} {item['id']}"
    return f"{one_line(asked)}\n{command_line(command)}"


def _answer(run: dict[str, Any]) -> str:
    """The last text of the run, shortened."""
    texts = [part["text"].strip() for part in run["parts"] if part["type"] == "text"]
    lines = texts[-1].splitlines() if texts else []
    if len(lines) > ANSWER_LINES:
        lines = [*lines[:ANSWER_LINES], f"… {len(lines) - ANSWER_LINES} more lines: outlast runs follow {run['id']}"]
    return "\n".join(lines)

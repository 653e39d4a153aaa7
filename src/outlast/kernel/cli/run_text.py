"""A run in the terminal: its events as text while it works. Answers are printed as they are written; everything else is
dim."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson

from outlast.kernel.cli.terminal import out, styled
from outlast.kernel.cli.units import count

DELTAS: Final = {"text.delta": "text", "reasoning.delta": "reasoning", "tool_call.output.delta": "output"}
MAX_ARGUMENT_CHARS: Final = 400
WORKFLOW: Final = {
    "tell_context_lost": "restore the files",
    "check": "check types and the page",
    "save_error": "save the error",
}
LAST_STEPS: Final = frozenset({"save_screen", "save_page", "save_answer", "settle_credits", "save_error"})
ENDINGS: Final = {
    "run.completed": ("completed", "green"),
    "run.cancelled": ("cancelled", "yellow"),
    "run.error": ("error", "red"),
}


class Rendering:
    """Prints one run. Tracks the length of each part and how much of it was printed, so that repeated text (a snapshot
    after a break, the output of a command that a new attempt attached to) is not printed twice."""

    def __init__(self) -> None:
        self._length: dict[str, int] = {}
        self._shown: dict[str, int] = {}
        self._at_line_start = True
        self._kind = ""

    def show(self, event: Mapping[str, Any]) -> None:
        """Print the new text of one event. Unknown events print nothing."""
        name, data = event["event"], event["data"]
        if name in DELTAS:
            self._add(data["part_id"], DELTAS[name], data["delta"])
        elif name in ("part.created", "part.snapshot", "part.completed"):
            self._part(data["part"], complete=name == "part.completed")
        elif name == "tool_call.result":
            self._result(data)
        elif name == "step.reset":
            self._reset(data["parts"])
        elif name == "workflow.step":
            self._step(data)
        elif name == "run.status" and data.get("retry_at"):
            self._note(f"the model cannot answer now; retrying at {data['retry_at']}", "yellow")
        elif name in ENDINGS:
            self._end(name, data)

    def line(self) -> None:
        """Start a new line, unless the cursor is at the start of one."""
        if not self._at_line_start:
            out.print()
            self._at_line_start = True

    def _add(self, part_id: str, kind: str, text: str) -> None:
        """Print the next piece of a part, without the text that was already printed."""
        begins = self._length.get(part_id, 0)
        self._length[part_id] = begins + len(text)
        fresh = text[max(self._shown.get(part_id, 0) - begins, 0) :]
        if not fresh:
            return
        self._shown[part_id] = begins + len(text)
        if kind != self._kind:
            self.line()
            self._kind = kind
        out.print(fresh, end="", style=None if kind == "text" else "dim")
        self._at_line_start = fresh.endswith("\n")

    def _whole(self, part_id: str, kind: str, text: str) -> None:
        self._length[part_id] = 0
        self._add(part_id, kind, text)

    def _reset(self, parts: Sequence[Mapping[str, Any]]) -> None:
        self._note("the server continued this step after an interruption", "yellow")
        for part in parts:
            self._length[part["id"]] = len(part.get("text", "") or part.get("output", ""))

    def _part(self, part: Mapping[str, Any], *, complete: bool) -> None:
        kind = part["type"]
        if kind in ("text", "reasoning"):
            self._whole(part["id"], kind, part["text"])
        elif kind == "notice":
            self._note(part["text"], {"error": "red", "warning": "yellow"}.get(part["level"], "dim"))
        elif kind == "tool_call" and (complete or part["status"] != "streaming"):
            self._call(part)
        elif kind == "message":
            self._note(part["text"], "bold", mark="▸")
        elif kind == "handoff" and complete:
            self._note(f"{part['by']} handed over to {part['title']}: {part['reason']}", "cyan", mark="▸")
        elif kind == "page" and complete:
            self._note(page_words(part), "cyan", mark="▸")

    def _call(self, part: Mapping[str, Any]) -> None:
        key = f"call {part['id']}"
        if key not in self._shown:
            self._shown[key] = 1
            self.line()
            self._kind = ""
            call = styled("▸ ", (part["tool"], "bold"), f" {shorten(part['arguments'])}")
            out.print(call, style="cyan")
        if part["output"]:
            self._whole(part["id"], "output", part["output"])

    def _result(self, data: Mapping[str, Any]) -> None:
        if data["status"] == "done":
            took = f" in {data['duration_s']:.1f} s" if data.get("duration_s") is not None else ""
            self._note(f"done{took}", "dim", mark=" ")
        else:
            self._note(f"{data['status']}: {shorten(data['result'])}", "red", mark=" ")

    def _step(self, step: Mapping[str, Any]) -> None:
        """Print a named step when it begins, and its result if that is more than success."""
        name, status, detail = step["name"], step["status"], step["detail"]
        words = WORKFLOW.get(name, name.replace("_", " "))
        if name == "agent" or (status in ("skipped", "cancelled") and not detail):
            return
        if status == "started":
            self._note(f"{words} …", "dim")
        elif status == "failed":
            self._note(f"{words}: failed{f': {detail}' if detail else ''}", "red")
        elif name not in LAST_STEPS or status == "skipped":
            took = f" in {step['duration_s']:.1f} s" if step.get("duration_s") is not None else ""
            self._note(f"{words}: {status}{took}{f' · {detail}' if detail else ''}", "dim", mark=" ")

    def _end(self, name: str, data: Mapping[str, Any]) -> None:
        self.line()
        reason = ""
        if error := data.get("error"):
            reason = f": {error['message']} {error['hint']}"
        elif name == "run.cancelled":
            reason = f" ({data['stop_reason']})"
        out.print(styled(("──", "dim"), " ", ENDINGS[name], f"{reason} ", (data["run_id"], "dim")))

    def _note(self, text: str, style: str, mark: str = "•") -> None:
        self.line()
        self._kind = ""
        out.print(f"{mark} {text}", style=style)


def page_words(part: Mapping[str, Any]) -> str:
    """The changes of a step to a page, in words."""
    patches, refused = part["patches"], part["refused"]
    made = ["rewritten"] if part["whole"] else []
    made += [count(patches, "change")] if patches else []
    words = f"page: {', '.join(made)}, now version {part['version']}" if made else "page: unchanged"
    return f"{words}; {refused} could not be applied" if refused else words


def shorten(text: str) -> str:
    """Arguments as one line of bounded length; a lone command is shown unquoted."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        value = text
    if isinstance(value, dict) and len(value) == 1:
        value = next(iter(value.values()))
    shown = value if isinstance(value, str) else orjson.dumps(value).decode()
    shown = " ⏎ ".join(shown.split("\n"))
    return shown if len(shown) <= MAX_ARGUMENT_CHARS else f"{shown[:MAX_ARGUMENT_CHARS]} …"

"""What a run and the run that it was started by tell each other at their ends."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson

from outlast.db.database import Tx
from outlast.kernel.runs import journal_store, timers
from outlast.kernel.runs.outcome import Ending

_ENDED: Final = {"cancelled": "It was cancelled.", "error": "It failed."}


def report(tx: Tx, step_id: str, ending: Ending, parts: Sequence[Mapping[str, Any]]) -> None:
    """A run ends that a function waits for: give its step the text of the last turn, or the failure. The function's own
    run is not locked here; `parked.go_on` wakes it, in a transaction of its own."""
    status = ending.end.status
    if status == "completed":
        answer = _answer(parts) if "output" not in ending.facts else orjson.dumps(ending.facts["output"]).decode()
        reported = journal_store.finish_step(tx, step_id, answer)
    else:
        message = ending.error.message if ending.error is not None else _ENDED[status]
        reported = journal_store.finish_step(tx, step_id, error={"kind": status, "message": message})
    if reported:
        timers.set_timer(tx, "step_due", step_id, tx.now)


def end_children(tx: Tx, effect_id: str) -> None:
    """A function ends for good: runs that it had started, and that still work, are cancelled soon."""
    if any(step.kind == "run" for step in journal_store.waiting_steps(tx, effect_id)):
        timers.set_timer(tx, "end_children", effect_id, tx.now)


def _answer(parts: Sequence[Mapping[str, Any]]) -> str:
    texts = [part for part in parts if part["type"] == "text"]
    last = max((part.get("step", 0) for part in texts), default=0)
    return "".join(part["text"] for part in texts if part.get("step", 0) == last)

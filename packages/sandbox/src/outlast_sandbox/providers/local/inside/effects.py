"""State of every command and evaluation until the server acknowledges it: output, result, listener."""

from __future__ import annotations

import time
from collections import OrderedDict

TYPE_CHECKING = False  # importing `typing` would cost every sandbox 3 ms of its start
if TYPE_CHECKING:
    from typing import Any, Callable, Optional

MAX_KEPT_EFFECTS = 512
MAX_FORGOTTEN_IDS = 8192


class Refused(Exception):
    """The request is refused; `code` is one of the server's error codes or a word that the server maps; `hint` replaces
    the server's own."""

    def __init__(self, code: str, message: str, hint: Optional[str] = None) -> None:
        super().__init__(message)
        self.code = code
        self.hint = hint


class Listener:
    """The connection that waits for an effect."""

    def pump(self) -> None:
        raise NotImplementedError

    def refuse(self, error: Refused) -> None:
        raise NotImplementedError


class Output:
    """Output bounded to `limit` bytes: the first three quarters, the last quarter, and a notice between them."""

    def __init__(self, limit: int) -> None:
        self._head_limit = max(1, limit * 3 // 4)
        self._tail_limit = max(1, limit - self._head_limit)
        self.head = bytearray()
        self._tail = bytearray()
        self._dropped = 0

    @property
    def truncated(self) -> bool:
        return self._dropped > 0

    def add(self, data: bytes) -> None:
        room = self._head_limit - len(self.head)
        if room > 0:
            self.head += data[:room]
            data = data[room:]
        self._tail += data
        excess = len(self._tail) - self._tail_limit
        if excess > self._tail_limit:  # trim rarely, so that long output costs one copy per tail's length
            self._trim()

    def rest(self) -> bytes:
        """The output after the head, once it is complete."""
        self._trim()
        if not self._dropped:
            return bytes(self._tail)
        start = 0
        while start < min(4, len(self._tail)) and self._tail[start] & 0xC0 == 0x80:
            start += 1  # do not begin in the middle of a UTF-8 character
        notice = f"\n[… {self._dropped + start} bytes of output left out …]\n"
        return notice.encode() + bytes(self._tail[start:])

    def _trim(self) -> None:
        excess = len(self._tail) - self._tail_limit
        if excess > 0:
            self._dropped += excess
            del self._tail[:excess]


class Effect:
    """One command or evaluation. `stop` ends it early; `finish` stores the result and notifies the listener."""

    def __init__(self, effect_id: str, attempt: int, limit: int) -> None:
        self.id = effect_id
        self.attempt = attempt
        self.output = Output(limit)
        self.result: Optional[dict[str, Any]] = None
        self.listener: Optional[Listener] = None
        self.started = time.monotonic()
        self.stop: Callable[[str], None] = lambda _reason: None

    def add_output(self, data: bytes) -> None:
        self.output.add(data)
        if self.listener is not None:
            self.listener.pump()

    def finish(self, **result: Any) -> None:
        if self.result is not None:
            return
        self.output.rest()
        self.result = {
            **result,
            "truncated": self.output.truncated,
            "duration_s": round(time.monotonic() - self.started, 6),
        }
        if self.listener is not None:
            self.listener.pump()

    def listen(self, listener: Listener) -> None:
        """Send `listener` the output from its start, then the result; an earlier listener is refused."""
        if self.listener is not None and self.listener is not listener:
            self.listener.refuse(Refused("superseded", f"attempt {self.attempt} of {self.id} has taken over"))
        self.listener = listener
        listener.pump()


class Effects:
    """All effects by id. An older attempt than the known one is refused; an acknowledged id never runs again. Beyond
    `MAX_KEPT_EFFECTS` the oldest results that no listener waits for are dropped as if they were acknowledged."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Effect] = OrderedDict()
        self._forgotten: OrderedDict[str, None] = OrderedDict()

    def find(self, effect_id: str, attempt: int) -> Optional[Effect]:
        """The effect, now owned by `attempt`, or None if it is unknown. Raises `Refused`."""
        if effect_id in self._forgotten:
            why = f"it was acknowledged, or {MAX_KEPT_EFFECTS} others came after it"
            raise Refused("acknowledged", f"the result of {effect_id} is no longer kept: {why}")
        effect = self._kept.get(effect_id)
        if effect is None:
            return None
        if attempt < effect.attempt:
            raise Refused("superseded", f"attempt {attempt} of {effect_id} is older than {effect.attempt}")
        effect.attempt = attempt
        return effect

    def get(self, effect_id: str) -> Optional[Effect]:
        return self._kept.get(effect_id)

    def add(self, effect: Effect) -> None:
        self._kept[effect.id] = effect
        finished = [kept for kept in self._kept.values() if kept.result is not None and kept.listener is None]
        for old in finished[: max(0, len(self._kept) - MAX_KEPT_EFFECTS)]:
            self._forget(old.id)

    def acknowledge(self, effect_id: str) -> None:
        """Drop output and result; a running effect is left unchanged. Unknown ids are ignored."""
        effect = self._kept.get(effect_id)
        if effect is not None and effect.result is not None:
            self._forget(effect_id)

    def _forget(self, effect_id: str) -> None:
        del self._kept[effect_id]
        self._forgotten[effect_id] = None
        while len(self._forgotten) > MAX_FORGOTTEN_IDS:
            self._forgotten.popitem(last=False)

    def running(self) -> list[Effect]:
        return [effect for effect in self._kept.values() if effect.result is None]

    def summary(self) -> list[dict[str, Any]]:
        return [
            {"effect": effect.id, "attempt": effect.attempt, "running": effect.result is None}
            for effect in self._kept.values()
        ]

"""Rules of webhooks: which addresses and events are accepted, what is sent, and when it is tried again."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, Literal, NamedTuple

import orjson

from outlast.base.errors import MalformedInput
from outlast.kernel.http.web_addresses import Address, checked_address
from outlast_sandbox.host_patterns import parse_host_port

MAX_BODY_BYTES: Final = 20_000
LINK_BYTES: Final = 1_000  # of these, for the server's address in `link`
TEXT_CHARS: Final = 1_000
LIST_ITEMS: Final = 20
MAX_WAIT_S: Final = 4 * 3_600.0
JITTER: Final = 0.2
GONE: Final = 410
TEST_EVENT: Final = "webhook.test"
HostPorts = frozenset[tuple[str, int]]


def host_ports(texts: Sequence[str]) -> HostPorts:
    """The private addresses that an operator allows."""
    return frozenset(parse_host_port(text) for text in texts)


def checked_url(url: str, allowed: HostPorts = frozenset()) -> Address:
    """Host and port of an address that events may be sent to. A name is checked again each time it is resolved. Raises
    `MalformedInput`."""
    return checked_address(url, allowed, thing="a webhook", example="https://example.com/hooks")


def checked_events(events: Sequence[str], offered: Sequence[str]) -> list[str]:
    """The chosen events, each once, in the order in which they are offered. Raises `MalformedInput`."""
    for name in events:
        if name not in offered:
            raise MalformedInput(
                f"There is no event {name[:80]} for webhooks.",
                hint=f"Choose from {', '.join(offered)}.",
                field="events",
            )
    if not events:
        raise MalformedInput("A webhook needs at least one event.", field="events")
    return [name for name in offered if name in events]


def about_of(stream_id: str, data: Mapping[str, Any]) -> str:
    """What an event is about: its run, or the thing that its data begins with, such as a document."""
    if stream_id.startswith("run_"):
        return stream_id
    first = next(iter(data.values()), None)
    found = first.get("id") if isinstance(first, dict) else first
    return found if isinstance(found, str) and 0 < len(found) <= 40 else stream_id


def body_of(event: str, timestamp: str, data: Mapping[str, Any], link: str) -> str:
    """What is sent: at most `MAX_BODY_BYTES`. Long texts and lists are cut, and `truncated` is true then; what does not
    fit even so is left out but for ids and short values. `link` shows all of it."""
    short = _shortened(data)
    whole = {**short, "link": link, "truncated": short != data}
    text = _json(event, timestamp, whole)
    if len(text.encode()) > MAX_BODY_BYTES - LINK_BYTES:
        few = {key: value for key, value in short.items() if not isinstance(value, dict | list)}
        ids = {key: {"id": value["id"]} for key, value in short.items() if isinstance(value, dict) and "id" in value}
        text = _json(event, timestamp, {**_shortened(few, 100), **ids, "link": link, "truncated": True})
    return text


def _json(event: str, timestamp: str, data: Mapping[str, Any]) -> str:
    return orjson.dumps({"type": event, "timestamp": timestamp, "data": data}).decode()


def with_whole_link(body: str, public_url: str) -> bytes:
    """The bytes of a body whose link begins with the server's address."""
    sent = orjson.loads(body)
    sent["data"]["link"] = public_url.rstrip("/") + sent["data"]["link"]
    return orjson.dumps(sent)


def _shortened(value: Any, chars: int = TEXT_CHARS) -> Any:
    if isinstance(value, str):
        return value if len(value) <= chars else f"{value[:chars]}…"
    if isinstance(value, dict):
        return {key: _shortened(one, chars) for key, one in value.items()}
    if isinstance(value, list):
        return [_shortened(one, chars) for one in value[:LIST_ITEMS]]
    return value


class Outcome(NamedTuple):
    """A try: the status of the answer (None: there was none), and why it failed (None: it was accepted)."""

    status: int | None
    reason: str | None


def outcome_of(status: int) -> Outcome:
    """What an answer means: only 2xx is accepted."""
    if 200 <= status < 300:
        return Outcome(status, None)
    if 300 <= status < 400:
        return Outcome(status, f"The address answered {status}, a redirect. Redirects are not followed.")
    if status == GONE:
        return Outcome(status, "The address answered 410: it takes no more events.")
    return Outcome(status, f"The address answered {status}.")


class Next(NamedTuple):
    """What becomes of a delivery; `wait_s` until the next try, if it is still pending."""

    state: Literal["pending", "delivered", "dead"]
    wait_s: float = 0.0


def next_of(
    outcome: Outcome, tries: int, since: datetime, now: datetime, first_s: float, most: timedelta, share: float
) -> Next:
    """`tries` were made, this one included, in the time since `since`; `share` is a random number from 0 to 1. The wait
    doubles, up to four hours; after `most` of tries it is given up."""
    if outcome.reason is None:
        return Next("delivered")
    wait_s = min(first_s * 2.0 ** min(tries - 1, 40), MAX_WAIT_S) * (1 - JITTER + 2 * JITTER * share)
    if outcome.status == GONE or now + timedelta(seconds=wait_s) > since + most:
        return Next("dead")
    return Next("pending", wait_s)

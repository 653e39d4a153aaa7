"""E2B's protocol, given anything: every answer is one of the protocol, none a failure of the server."""

from __future__ import annotations

import copy
import random
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import httpx
import orjson
import pytest

from tests.sandbox.e2b_service import E2bService

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(600)]
ODD: list[Any] = [
    "x", "", "\u00b2", "\u0661", "-", "--1", "a\x00b", "../../../../etc", "~", "/", "x" * 5000, 0, -1, 1.5, 2**63,
    10**30,     True, False, None, [], [None], ["x"], {}, {"a": {}}, {"pid": "x"}, {"tag": 5}, {"selector": []},
]  # fmt: skip
NUMBERS = ["\u00b2", "\u0661", "", "-", "--1", "1e3", "1.0", "9" * 30, "9" * 5000, " 1", "0x1", "-1", "101", "None"]
ROUNDS = pytest.mark.parametrize("rounds", [8, pytest.param(400, marks=pytest.mark.deep)])
STREAMS = [
    "process.Process/Start",
    "process.Process/Connect",
    "process.Process/StreamInput",
    "filesystem.Filesystem/WatchDir",
]
CALLS: dict[str, Any] = {
    "process.Process/Start": {
        "process": {"cmd": "/bin/true", "args": ["a"], "envs": {"A": "b"}, "cwd": "/home/user"},
        "pty": {"size": {"cols": 80, "rows": 24}},
        "tag": "mine",
        "stdin": False,
    },
    "process.Process/Connect": {"process": {"pid": 99}},
    "process.Process/StreamInput": {"start": {"process": {"pid": 99}}},
    "process.Process/List": {},
    "process.Process/Update": {"process": {"pid": 99}, "pty": {"size": {"cols": 80, "rows": 24}}},
    "process.Process/SendInput": {"process": {"tag": "mine"}, "input": {"stdin": "eA=="}},
    "process.Process/SendSignal": {"process": {"pid": 99}, "signal": "SIGNAL_SIGTERM"},
    "process.Process/CloseStdin": {"process": {"pid": 99}},
    "filesystem.Filesystem/Stat": {"path": "/home/user"},
    "filesystem.Filesystem/MakeDir": {"path": "made"},
    "filesystem.Filesystem/Move": {"source": "made", "destination": "moved"},
    "filesystem.Filesystem/ListDir": {"path": "/home/user", "depth": 1},
    "filesystem.Filesystem/Remove": {"path": "moved"},
    "filesystem.Filesystem/CreateWatcher": {"path": "/home/user", "recursive": True, "includeEntry": True},
    "filesystem.Filesystem/GetWatcherEvents": {"watcherId": "w"},
    "filesystem.Filesystem/RemoveWatcher": {"watcherId": "w"},
    "filesystem.Filesystem/WatchDir": {"path": "/home/user", "recursive": False},
}
CONTROL: list[tuple[str, str, Any]] = [
    ("POST", "/sandboxes/{}/timeout", {"timeout": 600}),
    ("POST", "/sandboxes/{}/refreshes", {"duration": 600}),
    ("POST", "/sandboxes/{}/connect", {"timeout": 600, "memory": True}),
    ("POST", "/sandboxes/{}/resume", {"timeout": 600}),
    ("PUT", "/sandboxes/{}/network", {"allowOut": [], "denyOut": ["*"], "rules": None}),
    ("POST", "/sandboxes", {"templateID": "none-such", "timeout": 60, "metadata": {"a": "b"}, "envVars": {"A": "b"}}),
    ("POST", "/sandboxes/{}/snapshots", {"name": 7}),
]


@dataclass
class Caller:
    """A program with a living sandbox."""

    http: httpx.Client
    sandbox_id: str
    inside: dict[str, str]
    failures: list[str] = field(default_factory=list)

    def control(self, method: str, path: str, body: Any = None, **query: str) -> httpx.Response:
        address = f"/e2b{path.format(self.sandbox_id)}"
        return self._seen(self.http.request(method, address, content=_json(body), params=query), body or query)

    def call(self, name: str, message: Any, **headers: bytes) -> httpx.Response:
        """One call of what is inside."""
        body, streams = _json(message), name in STREAMS
        kind = "application/connect+json" if streams else "application/json"
        sent = {**_as_bytes(self.inside), b"content-type": kind.encode(), b"connect-timeout-ms": b"300"}
        sent |= {header.encode(): value for header, value in headers.items()}
        if streams:
            body = struct.pack(">BI", 0, len(body)) + body
        return self._seen(self.http.post(f"/{name}", content=body, headers=sent), message)

    def file(
        self, method: str, body: bytes = b"", headers: dict[str, str] | None = None, **query: str
    ) -> httpx.Response:
        sent = {**self.inside, "content-type": "application/octet-stream", **(headers or {})}
        return self._seen(self.http.request(method, "/files", content=body, headers=sent, params=query), query)

    def _seen(self, answer: httpx.Response, given: Any) -> httpx.Response:
        failed = answer.status_code == 500 or b'"internal' in answer.content or b'"unknown"' in answer.content
        if answer.headers.get("content-type", "").startswith("application/connect+"):
            failed = failed or not _is_whole(answer.content)
        if failed:
            request = answer.request
            self.failures.append(
                f"{request.method} {request.url} {given!r:.200}: {answer.status_code} {answer.text[:200]}"
            )
        return answer


def _as_bytes(headers: dict[str, str]) -> dict[bytes, bytes]:
    return {name.encode(): value.encode() for name, value in headers.items()}


def _json(value: Any) -> bytes:
    return b"" if value is None else orjson.dumps(_small(value))


def _small(value: Any) -> Any:
    """Numbers that JSON's writer does not take become texts."""
    if isinstance(value, dict):
        return {key: _small(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_small(one) for one in value]
    return str(value) if isinstance(value, int) and abs(value) >= 2**63 else value


def _is_whole(stream: bytes) -> bool:
    """Whether a stream of messages ends with its own end."""
    flags = 0
    while stream:
        flags, length = struct.unpack_from(">BI", stream)
        stream = stream[5 + length :]
    return flags == 2


@pytest.fixture(scope="module")
def caller(e2b_service: E2bService) -> Iterator[Caller]:
    with httpx.Client(base_url=e2b_service.url, timeout=60, headers={"x-api-key": e2b_service.key}) as http:
        made = http.post("/e2b/sandboxes", json={"timeout": 900}).json()
        inside = {"e2b-sandbox-id": made["sandboxID"], "x-access-token": made["envdAccessToken"]}
        yield Caller(http, made["sandboxID"], inside)
        http.delete(f"/e2b/sandboxes/{made['sandboxID']}")


@pytest.fixture(autouse=True)
def no_failure(caller: Caller) -> Iterator[None]:
    caller.failures.clear()
    yield
    assert caller.failures == []


@pytest.mark.parametrize("number", NUMBERS)
def test_a_text_that_is_no_number_is_refused_or_let_be(caller: Caller, number: str):
    # Digits of other scripts and exponents are digits to str.isdigit, and no number to int.
    caller.control("GET", "/v2/sandboxes", limit=number)
    caller.control("GET", "/snapshots", limit=number)
    caller.control("GET", "/sandboxes/{}/metrics", start=number, end=number)
    caller.file("GET", path="x", signature="v1_x", signature_expiration=number)
    if number.strip() == number and len(number) < 1000:
        written = number.encode()
        caller.call("process.Process/List", {}, **{"keepalive-ping-interval": written, "connect-timeout-ms": written})


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("message", [{}, {"process": "x"}, {"input": "x"}, {"process": {"tag": "mine"}, "input": "x"}])
def test_a_text_in_the_place_of_an_object_is_refused(caller: Caller, name: str, message: dict[str, Any]):
    assert caller.call(name, message).status_code in (200, 400, 404, 409, 501)


@ROUNDS
@pytest.mark.parametrize("name", CALLS)
def test_calls_with_anything_anywhere_are_answered(caller: Caller, name: str, rounds: int):
    chance = random.Random(f"calls {name}")
    for _ in range(rounds):
        caller.call(name, changed(CALLS[name], chance))


@ROUNDS
@pytest.mark.parametrize(("method", "path", "body"), CONTROL, ids=[path for _, path, _ in CONTROL])
def test_the_control_plane_answers_bodies_with_anything_anywhere(
    caller: Caller, method: str, path: str, body: Any, rounds: int
):
    chance = random.Random(f"control {path}")
    for _ in range(rounds):
        answer = caller.control(method, path, changed(body, chance))
        made = answer.json().get("sandboxID") if answer.status_code == 201 and path == "/sandboxes" else None
        if made and made != caller.sandbox_id:
            caller.control("DELETE", f"/sandboxes/{made}")


@ROUNDS
def test_queries_and_paths_with_anything_are_answered(caller: Caller, rounds: int):
    chance = random.Random("queries")
    names = ["limit", "nextToken", "order", "state", "metadata", "template", "startedAfter", "sandbox_ids", "name"]
    odd = [str(one) for one in ODD] + NUMBERS + ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "a=b&c"]
    for _ in range(5 * rounds):
        query = {name: chance.choice(odd) for name in chance.sample(names, 2)}
        path = chance.choice(["/sandboxes", "/v2/sandboxes", "/snapshots", "/sandboxes/metrics"])
        caller.control("GET", path, **query)
    for one in odd:
        named = quote(one[:2000].replace("\x00", ""), safe="")
        for path in (f"/sandboxes/{named}", f"/templates/aliases/{named}", f"/sandboxes/{named}/metrics"):
            caller.control("GET", path.replace("{", "").replace("}", ""))
        caller.file("GET", path=one)
        caller.file("POST", b"x", path=one)


def test_a_small_body_that_unpacks_to_a_huge_one_is_refused_soon(caller: Caller):
    # Five gigabytes were unpacked for half a minute before the sandbox's size refused them.
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    packed = b"".join(packer.compress(bytes(16_000_000)) for _ in range(30)) + packer.flush()
    assert len(packed) < 1_000_000
    answer = caller.file("POST", packed, {"content-encoding": "gzip"}, path="zeros")
    assert answer.status_code == 413
    assert "times its size" in answer.text
    small = zlib.compress(bytes(1_000_000), 9, 31)
    assert caller.file("POST", small, {"content-encoding": "gzip"}, path="zeros").status_code == 200


def changed(body: Any, chance: random.Random) -> Any:
    """The body with one or two of its values replaced by odd ones, or left out."""
    made = {"body": copy.deepcopy(body)}
    for _ in range(chance.randint(1, 2)):
        places = list(_places(made))
        holder, key = chance.choice(places)
        if chance.random() < 0.15 and isinstance(holder, dict) and holder is not made:
            del holder[key]
        else:
            holder[key] = copy.deepcopy(chance.choice(ODD))
    return made["body"] if made["body"] is not None else {}


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    keys = list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    for key in keys:
        yield value, key
        yield from _places(value[key])

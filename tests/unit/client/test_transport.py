"""Requests of both clients, and the streams that they follow, against a server of prepared answers."""

import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import httpx
import pytest

from outlast_client import (
    AsyncClient,
    Client,
    Conflict,
    CreditsNeeded,
    Gone,
    InternalError,
    InvalidRequest,
    OutlastError,
    PermissionNeeded,
    ProviderRefused,
    Retries,
    TryLater,
    Unreachable,
)
from outlast_client.calls import File

AT_ONCE = Retries(tries=3, first_pause_s=0, longest_pause_s=0)


def busy() -> httpx.Response:
    return httpx.Response(503, json={"detail": "Busy.", "code": "busy", "retry_after_s": 0})


class Answers:
    """Gives prepared answers in turn, and keeps the requests. An exception is raised instead of an answer."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.requests: list[httpx.Request] = []
        self._left = list(answers)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self._left.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def sent(self, name: str) -> list[str]:
        return [request.url.params.get(name, "") for request in self.requests]


def client(answers: Callable[[httpx.Request], httpx.Response], token: str | None = None) -> Client:
    http = httpx.Client(transport=httpx.MockTransport(answers))
    return Client("http://server/", token, retries=AT_ONCE, http=http)


def async_client(answers: Callable[[httpx.Request], httpx.Response]) -> AsyncClient:
    http = httpx.AsyncClient(transport=httpx.MockTransport(answers))
    return AsyncClient("http://server", retries=AT_ONCE, http=http)


class Bytes(httpx.SyncByteStream, httpx.AsyncByteStream):
    """The body of a stream, which may break."""

    def __init__(self, chunks: list[bytes], broken: Exception | None = None) -> None:
        self._chunks, self._broken = chunks, broken

    def __iter__(self) -> Iterator[bytes]:
        yield from self._chunks
        if self._broken is not None:
            raise self._broken

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self:
            yield chunk


def stream(*events: tuple[int, str], broken: bool = False) -> httpx.Response:
    chunks = [f'id: {cursor}\ndata: {{"event":"{name}"}}\n\n'.encode() for cursor, name in events]
    return httpx.Response(200, stream=Bytes(chunks, httpx.ReadError("reset") if broken else None))


def test_a_call_carries_its_token_body_and_key() -> None:
    answers = Answers(httpx.Response(201, json={"run_id": "run_1"}))
    started = client(answers, "secret").runs.start("thr_1", content="Hello", idempotency_key="once")
    assert started["run_id"] == "run_1"
    [request] = answers.requests
    assert (request.method, str(request.url)) == ("POST", "http://server/v1/threads/thr_1/runs")
    assert request.headers["authorization"] == "Bearer secret"
    assert request.headers["idempotency-key"] == "once"
    assert json.loads(request.content) == {"content": "Hello"}


def test_names_in_a_path_are_escaped() -> None:
    answers = Answers(httpx.Response(200, json={}))
    client(answers).threads.get("../users?x")
    assert answers.requests[0].url.raw_path == b"/v1/threads/..%2Fusers%3Fx"


def test_a_repeated_request_keeps_the_key_that_was_made_for_it() -> None:
    answers = Answers(busy(), httpx.ReadError("reset"), httpx.Response(201, json={}))
    client(answers).runs.start("thr_1", content="Hello")
    keys = {request.headers["idempotency-key"] for request in answers.requests}
    assert len(answers.requests) == 3
    assert len(keys) == 1


def test_a_request_without_a_key_is_not_repeated_when_its_answer_is_lost() -> None:
    answers = Answers(httpx.ReadError("reset"))
    with pytest.raises(Unreachable, match=r"No server answers at http://server \(reset\)"):
        client(answers).projects.create(name="Mine")
    assert len(answers.requests) == 1


def test_a_list_goes_through_all_pages() -> None:
    pages = [{"items": [{"id": "run_1"}], "next": "b"}, {"items": [{"id": "run_2"}], "next": None}]
    answers = Answers(*(httpx.Response(200, json=page) for page in pages))
    assert [one["id"] for one in client(answers).runs.list()] == ["run_1", "run_2"]
    assert answers.sent("before") == ["", "b"]


def test_nothing_comes_back_where_the_answer_is_empty() -> None:
    client(Answers(httpx.Response(204))).projects.delete("prj_1")


def test_a_file_is_sent_as_a_form_and_comes_back_as_bytes() -> None:
    answers = Answers(httpx.Response(201, json={"id": "art_1"}), httpx.Response(200, content=b"\x00\xff"))
    with client(answers) as opened:
        opened.artifacts.upload("prj_1", File("notes.txt", b"words", "text/plain"))
        assert opened.artifacts.open("art_1", download=True) == b"\x00\xff"
    assert answers.requests[0].headers["content-type"].startswith("multipart/form-data")
    assert b'filename="notes.txt"' in answers.requests[0].content
    assert answers.sent("download")[1] == "true"


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (400, "invalid_request", InvalidRequest),
        (401, "not_signed_in", PermissionNeeded),
        (402, "credits_exhausted", CreditsNeeded),
        (404, "not_found", Gone),
        (409, "conflict", Conflict),
        (400, "model_rejected", ProviderRefused),
        (403, "policy_denied", PermissionNeeded),
        (429, "rate_limited", TryLater),
        (500, "internal", InternalError),
    ],
)
def test_a_refusal_is_raised_as_what_to_do_about_it(status: int, code: str, kind: type[OutlastError]) -> None:
    problem = {"detail": "No.", "code": code, "hint": "Do this.", "fields": {"at": 3}, "request_id": "req_1"}
    answers = Answers(*[httpx.Response(status, json=problem)] * AT_ONCE.tries)
    with pytest.raises(kind) as caught:
        client(answers).projects.create(name="Mine")
    error = caught.value
    assert (error.code, error.status, error.fields, error.request_id) == (code, status, {"at": 3}, "req_1")
    assert str(error) == "No. Do this."


def test_a_refusal_of_something_else_on_the_way_is_an_error_of_its_status() -> None:
    with pytest.raises(Gone) as caught:
        client(Answers(httpx.Response(404, text="<h1>nginx</h1>"))).threads.get("thr_1")
    assert caught.value.code == "http_404"


def test_a_run_is_followed_to_its_end_across_broken_connections_with_each_event_once() -> None:
    answers = Answers(
        stream((1, "run.started"), (2, "text.delta"), broken=True),
        busy(),
        stream((3, "text.delta")),
        stream((4, "stream.ended")),
    )
    events = client(answers).runs.follow("run_1")
    assert [event["event"] for event in events] == ["run.started", "text.delta", "text.delta", "stream.ended"]
    assert answers.sent("after") == ["0", "2", "2", "3"]
    assert events.cursor == "4"


def test_a_stream_that_has_nothing_left_ends() -> None:
    assert list(client(Answers(httpx.Response(204))).runs.follow("run_1", after=9)) == []


def test_a_thread_is_followed_beyond_the_end_of_a_run() -> None:
    answers = Answers(stream((1, "stream.ended"), (2, "message.created")))
    with client(answers).threads.follow("thr_1") as events:
        assert [next(events)["event"] for _ in range(2)] == ["stream.ended", "message.created"]


def test_following_what_does_not_exist_raises() -> None:
    gone = httpx.Response(404, json={"detail": "There is no such run.", "code": "not_found"})
    with pytest.raises(Gone):
        next(client(Answers(gone)).runs.follow("run_1"))


def test_following_a_server_that_never_answers_raises_after_some_attempts() -> None:
    answers = Answers(*[httpx.ConnectError("refused")] * AT_ONCE.tries)
    with pytest.raises(Unreachable):
        next(client(answers).runs.follow("run_1"))


async def test_the_async_client_calls_lists_and_follows_alike() -> None:
    page: dict[str, Any] = {"items": [{"id": "run_1"}], "next": None}
    answers = Answers(
        busy(), httpx.Response(200, json=page), stream((1, "run.started"), broken=True), stream((2, "stream.ended"))
    )
    async with async_client(answers) as opened:
        assert [run["id"] async for run in opened.runs.list()] == ["run_1"]
        async with opened.runs.follow("run_1") as events:
            assert [event["event"] async for event in events] == ["run.started", "stream.ended"]
    assert answers.sent("after")[2:] == ["0", "1"]

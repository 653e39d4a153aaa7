"""What is turned away before any route sees it."""

import orjson
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse

from outlast.kernel.http.allowed_hosts import known_hosts
from outlast.surfaces.http.middleware import RequestGuard


async def echo(scope, receive, send):
    body = await Request(scope, receive).body()
    await PlainTextResponse(f"{len(body)}")(scope, receive, send)


async def broken(scope, receive, send):
    raise RuntimeError("the password is hunter2")


GUARD = RequestGuard(echo, known_hosts("127.0.0.1", "", ()), body_bytes=100, image_bytes=1000)


class Answered:
    def __init__(self) -> None:
        self.status, self.body = 0, b""
        self.headers: dict[str, str] = {}

    async def send(self, message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
        else:
            self.body += message.get("body", b"")

    @property
    def code(self) -> str:
        return orjson.loads(self.body)["code"]


async def send_request(
    guard=GUARD, method="GET", path="/v1/me", body: list[bytes] | None = None, **headers: str
) -> Answered:
    sent = {"host": "localhost:8400"} | {name.replace("_", "-"): value for name, value in headers.items()}
    chunks = list(body or [])
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in sent.items()],
    }

    async def receive():
        return {"type": "http.request", "body": chunks.pop(0) if chunks else b"", "more_body": bool(chunks)}

    answered = Answered()
    await guard(scope, receive, answered.send)
    return answered


async def test_a_request_from_this_machine_without_an_origin_passes():
    assert (await send_request()).status == 200


async def test_a_rebound_host_is_refused():
    answered = await send_request(host="evil.example")
    assert (answered.status, answered.code) == (403, "origin_refused")


@pytest.mark.parametrize("path", ["/v1/me", "/v1/runs/run_1/events", "/v1/threads/thr_1/events"])
async def test_a_foreign_origin_is_refused_on_routes_and_streams(path):
    assert (await send_request(path=path, origin="https://evil.example")).code == "origin_refused"


@pytest.mark.parametrize("site", ["cross-site", "same-site", "nonsense"])
async def test_a_request_that_the_browser_calls_foreign_is_refused(site):
    assert (await send_request(sec_fetch_site=site)).code == "origin_refused"


@pytest.mark.parametrize("site", ["same-origin", "none"])
async def test_our_own_page_passes(site):
    assert (await send_request(sec_fetch_site=site, origin="http://localhost:8400")).status == 200


async def test_an_origin_that_the_operator_named_passes_also_from_another_site():
    guard = RequestGuard(echo, known_hosts("127.0.0.1", "https://o.example", ()), body_bytes=100, image_bytes=1)
    assert (await send_request(guard, origin="https://o.example", sec_fetch_site="cross-site")).status == 200


async def test_the_page_itself_may_be_linked_to_from_anywhere():
    assert (await send_request(path="/", sec_fetch_site="cross-site")).status == 200


@pytest.mark.parametrize("kind", ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
async def test_a_body_that_does_not_say_it_is_json_is_refused(kind):
    headers = {"content_type": kind} if kind else {}
    answered = await send_request(method="POST", body=[b"{}"], content_length="2", **headers)
    assert (answered.status, answered.code) == (400, "malformed_input")


async def test_json_with_a_charset_is_json():
    kind = "application/json; charset=utf-8"
    assert (await send_request(method="POST", body=[b"{}"], content_length="2", content_type=kind)).body == b"2"


async def test_a_post_without_a_body_needs_no_content_type():
    assert (await send_request(method="POST", content_length="0")).status == 200


async def test_a_body_larger_than_stated_limits_is_refused_before_it_is_read():
    answered = await send_request(method="POST", content_length="101", content_type="application/json")
    assert (answered.status, answered.code) == (413, "input_too_large")


async def test_a_body_of_unstated_length_is_refused_once_it_is_too_long():
    headers = {"transfer_encoding": "chunked", "content_type": "application/json"}
    answered = await send_request(method="POST", body=[b"x" * 60, b"x" * 60], **headers)
    assert (answered.status, answered.code) == (413, "input_too_large")


async def test_an_uploaded_file_may_be_larger_than_a_json_body():
    headers = {"content_length": "900", "content_type": "multipart/form-data; boundary=x"}
    assert (await send_request(method="POST", path="/v1/attachments", body=[b"x" * 900], **headers)).body == b"900"


async def test_a_text_that_is_handed_in_may_be_larger_than_a_change_of_one():
    known = known_hosts("127.0.0.1", "", ())
    guard = RequestGuard(echo, known, body_bytes=100, image_bytes=100, text_bytes=1000)
    headers = {"content_length": "900", "content_type": "application/json"}
    for path, status in (("/v1/documents/doc_1/import", 200), ("/v1/documents/doc_1/changes", 413)):
        assert (await send_request(guard, method="POST", path=path, body=[b"x" * 900], **headers)).status == status


async def test_every_answer_carries_an_id_and_the_security_headers():
    answered = await send_request()
    assert answered.headers["x-request-id"].startswith("req_")
    assert answered.headers["x-content-type-options"] == "nosniff"
    assert "frame-ancestors 'none'" in answered.headers["content-security-policy"]
    assert "frame-src 'none'" in answered.headers["content-security-policy"]
    assert "script-src 'self'" in answered.headers["content-security-policy"]
    assert (await send_request(host="evil.example")).headers["x-content-type-options"] == "nosniff"


async def test_a_sensible_request_id_of_the_caller_is_kept_and_any_other_is_not():
    assert (await send_request(x_request_id="abc-123-def")).headers["x-request-id"] == "abc-123-def"
    assert (await send_request(x_request_id="a b\tc")).headers["x-request-id"].startswith("req_")


async def test_an_error_that_nobody_foresaw_tells_nothing_of_the_inside():
    guard = RequestGuard(broken, known_hosts("127.0.0.1", "", ()), body_bytes=100, image_bytes=100)
    answered = await send_request(guard)
    assert (answered.status, answered.code) == (500, "internal_error")
    assert b"hunter2" not in answered.body


async def test_health_is_told_to_whoever_asks():
    assert (await send_request(path="/healthz", host="10.0.0.1")).status == 200


async def test_an_address_with_a_nul_character_is_refused():
    # PostgreSQL refuses such a text, and the request ended as a bug of ours.
    assert ((await send_request(path="/v1/threads/thr_\x00")).code) == "malformed_input"
    assert ((await send_request(path="/assets/\x00.js")).status) == 400

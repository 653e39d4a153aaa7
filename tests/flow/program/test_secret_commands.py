"""`outlast secrets uses` against a server of its own process, whose sandbox sends a secret to a host of the test."""

from __future__ import annotations

import json
import threading
import time
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from tests.flow.program.serving import CONFIG, served
from tests.flow.program.test_cli import outlast

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(180)]
SECRET = "the-operators-own-value-42"


class Tracker(BaseHTTPRequestHandler):
    """A host that notes what it is sent and sends it back."""

    seen: list[str]

    def do_GET(self) -> None:
        self.seen.append(str(self.headers["X-Key"]))
        body = self.seen[-1].encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 (the standard library's name)
        """Nothing: the test looks at what was seen."""


@pytest.fixture
def tracker() -> Iterator[HTTPServer]:
    Tracker.seen = []
    server = HTTPServer(("127.0.0.1", 0), Tracker)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def until(what: str, look: object) -> object:
    """What `look` finds, once it finds something."""
    assert callable(look)
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        if found := look():
            return found
    raise AssertionError(f"not in time: {what}")


def test_a_secret_is_sent_by_a_sandbox_of_a_real_server_and_its_use_is_listed(
    tmp_path: Path, tracker: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRACKER_KEY", SECRET)
    door = tracker.server_port
    sandbox = f"""provider = "local"
mode = "warm"
memory_mb = 256
[[sandbox.dependencies]]
secret_env = "TRACKER_KEY"
allow_private = ["127.0.0.1:{door}"]
"""
    file = tmp_path / "outlast.toml"
    file.write_text(CONFIG.format(folder=tmp_path / "data").replace('provider = "none"', sandbox))

    with served(file) as address:

        def items(*command: str) -> list[dict[str, str]]:
            found: list[dict[str, str]] = json.loads(outlast(*command, "--json", url=address).stdout)["items"]
            return found

        outlast("runs", "start", "Hello", url=address)
        until("a sandbox", lambda: [one for one in items("sandboxes", "list") if one["state"] == "ready"])
        sandbox_id = items("sandboxes", "list")[0]["id"]
        script = f'curl -sS -H "X-Key: $TRACKER_KEY" "http://127.0.0.1:{door}/issues?all=1"; sleep 600'
        request = urllib.request.Request(
            f"{address}/v1/sandboxes/{sandbox_id}/services/ask",
            json.dumps({"command": script, "port": 3999}).encode(),
            {"Content-Type": "application/json"},
            method="PUT",
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            assert answer.status < 300
        until("a use", lambda: items("secrets", "uses"))
        use = items("secrets", "uses", "--secret", "TRACKER_KEY", "--sandbox", sandbox_id)[-1]
        assert items("secrets", "uses", "--secret", "OTHER_KEY") == []
        shown = outlast("secrets", "uses", url=address).stdout
        logs = outlast("sandboxes", "logs", sandbox_id, url=address).stdout
    assert (use["secret"], use["host"], use["path"]) == ("TRACKER_KEY", f"127.0.0.1:{door}", "/issues")
    assert Tracker.seen[0] == SECRET
    assert "TRACKER_KEY" in shown
    assert "*" * len(SECRET) in logs
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert all(SECRET.encode() not in path.read_bytes() for path in written)

"""Pages served inside a sandbox, for the browser that looks at them."""

from __future__ import annotations

import orjson

from outlast_sandbox.interface import Command, Sandbox

PORT = 3000
SERVER = """
import http.server, json, sys, threading, time
PAGES = json.load(open("pages.json"))
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        path = self.path.split("?")[0]
        status, kind, body = PAGES.get(path, (404, "text/plain", "not here"))
        if body == "NEVER":
            time.sleep(600)
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())
    def log_message(self, *words):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 3000), Handler)
open("up", "w").close()
server.serve_forever()
"""
Page = tuple[int, str, str]


def page(body: str, status: int = 200) -> Page:
    return status, "text/html", f"<!doctype html><meta charset=utf-8>{body}"


def script(text: str, status: int = 200) -> Page:
    return status, "text/javascript", text


async def serve_pages(box: Sandbox, pages: dict[str, Page]) -> None:
    """Serve these by path on port 3000 of the sandbox; returns once it listens."""
    await box.write_files([("server.py", SERVER.encode()), ("pages.json", orjson.dumps(pages))])
    start = "python3 server.py > /dev/null 2>&1 & until [ -e up ]; do sleep 0.02; done"
    assert (await box.run(Command("eff_pages", 1, start, timeout_s=60))).exit_code == 0

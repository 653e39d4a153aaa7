"""What plain requests understand of a page and its modules."""

from __future__ import annotations

import socket
import time
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast_sandbox.browser.plain_requests import ask_page, error_text, imports_of, module_paths
from outlast_sandbox.errors import NotFound


class Served:
    """Stands in for a sandbox: each connection to its port gets the next of these answers."""

    def __init__(self, *answers: bytes) -> None:
        self._answers = list(answers)
        self._kept: list[socket.socket] = []

    async def dial(self, port: int) -> socket.socket:
        if not self._answers:
            raise NotFound(f"nothing listens on port {port}")
        ours, theirs = socket.socketpair()
        theirs.sendall(self._answers.pop(0))
        theirs.shutdown(socket.SHUT_WR)
        self._kept.append(theirs)
        return ours


@pytest.mark.parametrize(
    ("answers", "status", "errors"),
    [
        ([b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"], 200, []),
        ([b"HTTP/1.1 500 Oops\r\n\r\n<p>Broken"], 500, ["The page answered with status 500. Broken"]),
        ([b"HTTP/1.1 500 Oops\r\nContent-Length: 99\r\n\r\nCut"], 500, ["The page answered with status 500. Cut"]),
        ([b"HTTP/1.1 200 OK\r\n\r\n<script type=module src=/a.js>"], 200, ["/a.js could not be loaded."]),
        ([b"220 mail ready\r\n"], None, ["Nothing answers on port 3000."]),
        ([b""], None, ["Nothing answers on port 3000."]),
        ([], None, ["Nothing answers on port 3000."]),
    ],
)
async def test_a_page_is_asked_for_with_its_modules(
    answers: list[bytes], status: int | None, errors: list[str]
) -> None:
    assert await ask_page(cast("Any", Served(*answers)), 3000, "/") == (status, errors)


def test_module_scripts_of_the_page_itself_are_found() -> None:
    page = """<script type="module" src="/main.tsx?t=1"></script><script src="/plain.js"></script>
    <script type=module src=app/more.js></script><script type="module" src="/@vite/client"></script>
    <script type="module" src="https://elsewhere.example/x.js"></script><script type="module">inline</script>"""
    assert module_paths(page, "/") == ["/main.tsx?t=1", "/app/more.js"]


@pytest.mark.parametrize(
    ("module", "paths"),
    [
        ('import { Page } from "/app/page.tsx?t=17"', ["/app/page.tsx?t=17"]),
        ('import "/app/globals.css"; import React from "/node_modules/.vite/deps/react.js?v=1"', ["/app/globals.css"]),
        ('const late = () => import("/components/late.tsx")', ["/components/late.tsx"]),
        ('import x from "./relative"; const text = "from nowhere"', []),
    ],
)
def test_what_a_module_loads_from_the_project_is_found(module: str, paths: list[str]) -> None:
    assert imports_of(module) == paths


def test_an_error_page_is_told_as_text() -> None:
    assert error_text('<template data-next-error-message="It&#x27;s &lt;broken&gt;"></template>') == "It's <broken>"
    assert error_text("<style>p{}</style><p>Internal   <b>error</b></p><script>x</script>") == "Internal error"


@given(st.text(max_size=400))
def test_nothing_that_a_server_answers_is_too_strange(body: str) -> None:
    error_text(body)
    module_paths(body, "/")
    imports_of(body)


def test_an_error_page_of_opening_marks_is_read_at_once() -> None:
    """Each `<` was read to the end of the answer, and each script that is never closed: a sandbox's app could keep the
    server's event loop busy for minutes."""
    begun = time.thread_time()
    for part in ("<", "</", "<script ", "error = {", "<script>", 'data-next-error-message="'):
        error_text(part * (4_000_000 // len(part)))
        module_paths(part * (4_000_000 // len(part)), "/")
    imports_of("import" + " " * 4_000_000)
    assert time.thread_time() - begun < 10


def test_what_a_script_says_that_is_never_closed_is_not_shown() -> None:
    assert error_text("<p>Broken</p><script>const a = 1") == "Broken"

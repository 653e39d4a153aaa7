"""What plain requests understand of a page and its modules."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast_sandbox.browser.requests import error_text, imports_of, module_paths


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

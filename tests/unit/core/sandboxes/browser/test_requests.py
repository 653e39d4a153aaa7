"""What plain requests understand of a page and its modules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.core.sandboxes.browser.requests import error_text, imports_of, module_paths


def test_module_scripts_of_the_page_itself_are_found() -> None:
    page = """<script type="module" src="/main.tsx?t=1"></script><script src="/plain.js"></script>
    <script type=module src=app/more.js></script><script type="module" src="/@vite/client"></script>
    <script type="module" src="https://elsewhere.example/x.js"></script><script type="module">inline</script>"""
    assert module_paths(page, "/") == ["/main.tsx?t=1", "/app/more.js"]


@pytest.mark.parametrize(
    ("module", "paths"),
    [
        ('import { Page } from "/app/page.tsx?t=17"', ["/app/page.tsx?t=17"]),
        (
            'import "/app/globals.css"; import React from "/node_modules/.vite/deps/react.js?v=1"',
            ["/app/globals.css"],
        ),
        ('const late = () => import("/components/late.tsx")', ["/components/late.tsx"]),
        ('import x from "./relative"; const text = "from nowhere"', []),
    ],
)
def test_what_a_module_loads_from_the_project_is_found(module: str, paths: list[str]) -> None:
    assert imports_of(module) == paths


def test_an_error_page_is_told_as_text() -> None:
    assert (
        error_text('<template data-next-error-message="It&#x27;s &lt;broken&gt;"></template>')
        == "It's <broken>"
    )
    assert (
        error_text("<style>p{}</style><p>Internal   <b>error</b></p><script>x</script>") == "Internal error"
    )


@given(st.text(max_size=400))
def test_nothing_that_a_server_answers_is_too_strange(body: str) -> None:
    error_text(body)
    module_paths(body, "/")
    imports_of(body)

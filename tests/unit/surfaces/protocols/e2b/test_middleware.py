"""Which requests are of E2B's protocol."""

from __future__ import annotations

import pytest

from outlast.surfaces.protocols.e2b.middleware import E2bRequest, e2b_request


@pytest.mark.parametrize(
    ("path", "query", "header", "expected"),
    [
        ("/e2b/v2/sandboxes", "", "", E2bRequest("/v2/sandboxes", False)),
        ("/e2b", "", "", E2bRequest("/", False)),
        ("/process.Process/List", "", "abc", E2bRequest("/process.Process/List", True)),
        ("/e2b/files", "", "abc", E2bRequest("/files", True)),
        ("/files", "path=a&signature=v1_x", "", E2bRequest("/files", True)),
        ("/e2b/files", "signature=v1_x", "", E2bRequest("/files", True)),
        ("/files", "path=a", "", None),
        ("/e2bx", "", "", None),
        ("/v1/runs", "signature=x", "", None),
        ("/", "", "", None),
    ],
)
def test_a_request_is_known_by_its_path_or_its_header(path: str, query: str, header: str, expected: E2bRequest | None):
    headers = [(b"e2b-sandbox-id", header.encode())] if header else []
    assert e2b_request({"path": path, "query_string": query.encode(), "headers": headers}) == expected

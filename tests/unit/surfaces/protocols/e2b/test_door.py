"""Which requests speak E2B's protocol."""

from __future__ import annotations

import pytest

from outlast.surfaces.protocols.e2b.door import Knock, knock_of


@pytest.mark.parametrize(
    ("path", "query", "header", "expected"),
    [
        ("/e2b/v2/sandboxes", "", "", Knock("/v2/sandboxes", None, False)),
        ("/e2b", "", "", Knock("/", None, False)),
        ("/process.Process/List", "", "abc", Knock("/process.Process/List", "abc", True)),
        ("/e2b/files", "", "abc", Knock("/files", "abc", True)),
        ("/files", "path=a&signature=v1_x", "", Knock("/files", None, True)),
        ("/e2b/files", "signature=v1_x", "", Knock("/files", None, True)),
        ("/files", "path=a", "", None),
        ("/e2bx", "", "", None),
        ("/v1/runs", "signature=x", "", None),
        ("/", "", "", None),
    ],
)
def test_a_request_is_known_by_its_path_or_its_header(path: str, query: str, header: str, expected: Knock | None):
    headers = [(b"e2b-sandbox-id", header.encode())] if header else []
    assert knock_of({"path": path, "query_string": query.encode(), "headers": headers}) == expected

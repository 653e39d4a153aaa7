"""Names of the cases of a test: the same in every worker of a run."""

from __future__ import annotations

import gzip

import pytest


@pytest.mark.parametrize(("name", "content"), [("a.gz", gzip.compress(b"")), ("a.gz", b"\0")])
def test_bytes_are_never_in_the_name_of_a_case(name: str, content: bytes, request: pytest.FixtureRequest) -> None:
    assert isinstance(content, bytes)
    assert request.node.name.split("[")[1] in {f"{name}-content0]", f"{name}-content1]"}

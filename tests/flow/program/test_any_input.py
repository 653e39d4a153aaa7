"""Whatever is sent within (and beside) the described shapes, the server answers as described and never with a 5xx."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import response_schema_conformance

from outlast.surfaces.http.api import create_api
from tests.flow.program.serving import CONFIG, served

pytestmark = pytest.mark.deep

SCHEMA = (
    schemathesis.openapi.from_dict(create_api().openapi())
    .exclude(path_regex="/events$")  # streams do not end
    .exclude(path="/v1/projects/{project_id}", method="DELETE")
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("any")
    file = folder / "outlast.toml"
    file.write_text(CONFIG.format(folder=folder / "data") + "[limits]\nruns_per_minute_per_user = 0\n")
    with served(file) as address:
        yield address


@SCHEMA.parametrize()
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_an_answer_is_always_as_described(case: schemathesis.Case, server: str):
    case.call_and_validate(base_url=server, checks=[not_a_server_error, response_schema_conformance])

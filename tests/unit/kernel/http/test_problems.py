"""Errors as problem documents."""

import orjson
import pytest

from outlast.base import errors, node_errors, webhook_errors
from outlast.base.errors import OutlastError, RateLimited, RunFinished
from outlast.kernel.http.problems import BRANCH, STATUS, problem, status_of


def every_error() -> list[type[OutlastError]]:
    named = [kind for room in (errors, node_errors, webhook_errors) for kind in vars(room).values()]
    kinds = dict.fromkeys(kind for kind in named if isinstance(kind, type) and issubclass(kind, OutlastError))
    return [kind for kind in kinds if kind is not OutlastError]


@pytest.mark.parametrize("kind", every_error(), ids=lambda kind: kind.code)
def test_every_error_belongs_to_a_branch_with_a_status(kind):
    assert any(issubclass(kind, branch) for branch, _ in BRANCH)
    assert 400 <= status_of(kind) < 600


def test_codes_are_told_apart():
    codes = [kind.code for kind in every_error()]
    assert len(codes) == len(set(codes))
    assert set(STATUS) <= set(codes)


def test_a_problem_tells_what_why_and_what_to_do():
    answer = problem(RunFinished("run_1 completed at noon.", id="run_1", state="completed"), "req_1")
    body = orjson.loads(answer.body)
    assert (answer.status_code, answer.media_type) == (409, "application/problem+json")
    assert body["code"] == "run_finished"
    assert body["detail"] == "run_1 completed at noon."
    assert body["fields"] == {"id": "run_1", "state": "completed"}
    assert body["request_id"] == "req_1"
    assert body["hint"]
    assert "retry_after_s" not in body


def test_try_later_says_when_in_the_body_and_in_whole_seconds_in_the_header():
    answer = problem(RateLimited("Too fast.", retry_after_s=1.2), "req_1")
    assert answer.status_code == 429
    assert orjson.loads(answer.body)["retry_after_s"] == 1.2
    assert answer.headers["retry-after"] == "2"


def test_an_unknown_caller_is_told_how_to_sign_in():
    assert problem(errors.NotSignedIn("No."), "r").headers["www-authenticate"] == "Bearer"

"""The tree of errors: stable codes, one place in the tree, safe to send and to store."""

from __future__ import annotations

import pickle
from collections.abc import Iterator

import orjson
import pytest

from outlast.base import errors
from outlast.base.errors import (
    Conflict,
    CreditsNeeded,
    FenceLost,
    Gone,
    InternalError,
    InvalidRequest,
    OutlastError,
    PermissionNeeded,
    ProviderRefused,
    StartRefused,
    ThreadBusy,
    TryLater,
)

WHAT_NOW = {
    InvalidRequest, PermissionNeeded, CreditsNeeded, Gone, Conflict, TryLater, ProviderRefused, StartRefused,
    InternalError,
}  # fmt: skip


def below(kind: type[OutlastError]) -> Iterator[type[OutlastError]]:
    for child in kind.__subclasses__():
        yield child
        yield from below(child)


ALL = sorted(set(below(OutlastError)), key=lambda kind: kind.__name__)


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_every_error_says_what_now_and_survives_the_way(kind: type[OutlastError]) -> None:
    assert sum(issubclass(kind, answer) for answer in WHAT_NOW) == 1
    error = kind("No.", hint="Try.", retry_after_s=1.5, run_id="run_1", first={"decision": "deny"})
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.to_dict(), str(again)) == (kind, error.to_dict(), "No.")
    assert orjson.loads(orjson.dumps(error.to_dict())) == {
        "code": kind.code,
        "message": "No.",
        "hint": "Try.",
        "fields": {"run_id": "run_1", "first": {"decision": "deny"}},
        "retry_after_s": 1.5,
    }


def test_codes_are_unique_words() -> None:
    codes = [kind.code for kind in ALL]
    assert len(codes) == len(set(codes))
    assert all(code.replace("_", "").isalpha() and code.islower() for code in codes)


def test_the_module_says_what_each_branch_means() -> None:
    told = errors.__doc__ or ""
    assert [kind.__name__ for kind in OutlastError.__subclasses__() if kind.__name__ not in told] == []


def test_a_hint_may_be_given_or_left_to_the_kind() -> None:
    assert ThreadBusy("Busy.").hint.startswith("Wait")
    assert ThreadBusy("Busy.", hint="").hint == ""
    assert "retry_after_s" not in ThreadBusy("Busy.").to_dict()


def test_only_a_worker_knows_a_lost_fence_and_it_is_never_retried() -> None:
    assert not issubclass(FenceLost, TryLater)


def test_every_error_says_when_it_is_raised() -> None:
    assert [kind.__name__ for kind in ALL if not vars(kind).get("__doc__")] == []

"""What is decided alike for screens, pages and documents."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.base.errors import TooManyScreens
from outlast.kernel.subjects.rules import copy_title, demand_room, state_of


@pytest.mark.parametrize(
    ("run_status", "problems", "begun", "state"),
    [
        ("idle", [], False, "new"),
        ("idle", [], True, "ready"),
        ("generating", ["x"], True, "working"),
        ("awaiting_approval", [], True, "waiting"),
        ("paused", [], True, "waiting"),
        ("error", ["x"], True, "failed"),
        ("complete", [], True, "ready"),
        ("complete", ["a broken line"], True, "problems"),
        ("idle", ["app/page.tsx:1 …"], True, "problems"),
    ],
)
def test_the_state_is_what_the_runs_do_then_what_is_wrong(
    run_status: str, problems: list[str], begun: bool, state: str
):
    assert state_of(run_status, problems, begun=begun) == state


@given(st.text(max_size=250), st.integers(1, 250))
def test_a_copys_title_fits(title: str, limit: int):
    copied = copy_title(title, limit)
    assert len(copied) <= limit
    if len(title) + len(" (copy)") <= limit:
        assert copied == f"{title} (copy)"


def test_a_project_may_have_so_many_and_zero_means_any_number():
    demand_room(TooManyScreens, "screens", "prj_1", 9, 10)
    demand_room(TooManyScreens, "screens", "prj_1", 10_000, 0)
    with pytest.raises(TooManyScreens) as refused:
        demand_room(TooManyScreens, "screens", "prj_1", 10, 10)
    assert refused.value.fields == {"project_id": "prj_1", "count": 10, "limit": 10}

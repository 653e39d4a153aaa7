"""Ids tell their kind and sort by the time they were made."""

from __future__ import annotations

import re
import time

import pytest

from outlast.base.ids import KINDS, new_id


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_an_id_names_its_kind_and_holds_26_characters_without_doubtful_ones(kind: str) -> None:
    assert re.fullmatch(rf"{KINDS[kind]}_[0-9a-hjkmnp-tv-z]{{26}}", new_id(kind))


def test_kinds_have_prefixes_of_their_own() -> None:
    assert len(set(KINDS.values())) == len(KINDS)


def test_no_id_is_given_twice() -> None:
    assert len({new_id("event") for _ in range(10_000)}) == 10_000


def test_ids_sort_by_the_time_they_were_made(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    for millisecond in (0, 1, 31, 32, 1_000, 2**40, 2**48 - 1):
        monkeypatch.setattr(time, "time_ns", lambda ms=millisecond: ms * 1_000_000)
        made.append(new_id("run"))
    assert made == sorted(made)


def test_ids_of_the_same_millisecond_sort_in_the_order_in_which_they_were_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: 1_800_000_000_000 * 1_000_000)
    made = [new_id("ledger") for _ in range(1_000)]
    assert made == sorted(set(made))


def test_a_kind_that_is_none_is_a_mistake() -> None:
    with pytest.raises(KeyError):
        new_id("unicorn")

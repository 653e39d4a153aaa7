"""Which host a new sandbox goes to."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from outlast_sandbox.providers.hosts.placement import HostLoad, ranked

LABELS = st.frozensets(st.sampled_from(["gpu", "eu", "large"]))
LOADS = st.builds(HostLoad, st.text("abc", min_size=1), st.integers(1, 9), st.integers(0, 12), LABELS, st.booleans())
HOSTS = st.lists(LOADS, unique_by=lambda load: load.name)


def test_the_largest_free_share_comes_first_and_the_name_decides_between_equals() -> None:
    loads = [HostLoad("c", 10, 5), HostLoad("b", 100, 40), HostLoad("a", 2, 1), HostLoad("full", 3, 3)]
    assert ranked(loads) == ["b", "a", "c"]


@given(HOSTS, LABELS)
def test_only_hosts_that_fit_are_named_each_once_the_emptier_first(
    loads: list[HostLoad], wanted: frozenset[str]
) -> None:
    by_name = {load.name: load for load in loads}
    names = ranked(loads, wanted)
    fitting = {load.name for load in loads if load.answers and load.used < load.capacity and wanted <= load.labels}
    assert sorted(names) == sorted(fitting)
    shares = [by_name[name].used / by_name[name].capacity for name in names]
    assert shares == sorted(shares)


@given(HOSTS, LABELS, st.randoms())
def test_the_order_of_the_settings_does_not_matter(
    loads: list[HostLoad], wanted: frozenset[str], random: object
) -> None:
    shuffled = list(loads)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert ranked(shuffled, wanted) == ranked(loads, wanted)


@given(st.lists(st.integers(1, 5), min_size=1, max_size=4))
def test_placing_one_after_the_other_fills_every_host_to_its_capacity_and_none_above(capacities: list[int]) -> None:
    used = [0] * len(capacities)
    for _ in range(sum(capacities)):
        loads = [HostLoad(str(n), capacity, used[n]) for n, capacity in enumerate(capacities)]
        used[int(ranked(loads)[0])] += 1
    assert used == capacities

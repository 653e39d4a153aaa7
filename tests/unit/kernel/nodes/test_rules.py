"""Which servers and workers may share a database."""

from __future__ import annotations

import pytest

from outlast.kernel.nodes.rules import Fit, find_misfit

HERE = Fit("nod_1", "here", "bucket-1", "docker")


def other(blobs: str = "bucket-1", sandbox: str = "docker", node_id: str = "nod_2") -> Fit:
    return Fit(node_id, "there", blobs, sandbox)


@pytest.mark.parametrize("living", [[], [other()], [other(sandbox="")], [other(sandbox="e2b")]])
def test_nodes_that_share_files_and_reach_their_sandboxes_fit(living: list[Fit]) -> None:
    assert find_misfit(HERE, living) is None


def test_a_node_with_other_blobs_is_in_the_way_and_the_hint_says_what_to_set() -> None:
    found = find_misfit(HERE, [other(), other("folder-2", node_id="nod_3")])
    assert found is not None
    assert found.other == "nod_3"
    assert "there" in found.reason
    assert "blobs.url" in found.hint


@pytest.mark.parametrize(("mine", "theirs"), [("local", "local"), ("local", "docker"), ("docker", "local")])
def test_local_sandboxes_allow_no_others(mine: str, theirs: str) -> None:
    found = find_misfit(HERE._replace(sandbox=mine), [other(sandbox=theirs)])
    assert found is not None
    assert "sandbox.provider" in found.hint


@pytest.mark.parametrize(("mine", "theirs"), [("local", ""), ("", "local"), ("", "")])
def test_local_sandboxes_of_one_node_allow_nodes_without(mine: str, theirs: str) -> None:
    assert find_misfit(HERE._replace(sandbox=mine), [other(sandbox=theirs)]) is None


def test_a_node_fits_its_own_row_of_before_its_restart() -> None:
    assert find_misfit(HERE, [other("folder-2", "local", "nod_1")]) is None

"""Names as programs use them, and ours."""

from __future__ import annotations

import pytest

from outlast.base.errors import MalformedInput, NotFound
from outlast.base.ids import new_id
from outlast.surfaces.protocols.e2b.names import full_path, shown_id, template_of, traffic_token, workspace_of


def test_a_sandbox_is_named_by_its_workspace_both_ways():
    workspace_id = new_id("workspace")
    assert workspace_of(shown_id(workspace_id)) == workspace_id
    assert workspace_of(f"{shown_id(workspace_id)}-client") == workspace_id
    for bad in ("", "x", "../../etc", "0" * 25, f"{shown_id(workspace_id)}0"):
        with pytest.raises(NotFound):
            workspace_of(bad)


@pytest.mark.parametrize(
    ("path", "full"),
    [
        ("", "/home/user"),
        ("a/b", "/home/user/a/b"),
        ("~", "/home/user"),
        ("~/a", "/home/user/a"),
        ("/etc//x/../y", "/etc/y"),
        ("../other", "/home/other"),
        ("~a", "/home/user/~a"),
    ],
)
def test_a_path_begins_in_the_home_folder(path: str, full: str):
    assert full_path(path) == full


def test_a_path_that_none_can_be_is_refused():
    for bad in ("a\x00b", "a" * 5000):
        with pytest.raises(MalformedInput):
            full_path(bad)


def test_a_template_is_a_name_or_a_snapshots_id():
    workspace_id = new_id("workspace")
    assert template_of("base") == "base"
    assert template_of("mine:latest") == "mine"
    assert template_of(shown_id(workspace_id)) == workspace_id


def test_the_traffic_token_is_not_the_access_token():
    assert traffic_token("sat_a") == traffic_token("sat_a") != traffic_token("sat_b")
    assert "sat_a" not in traffic_token("sat_a")

"""Limits are written where each layout of control groups wants them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from outlast_sandbox.providers.local.cgroups import Group, Hierarchy, Layout, limit_files, remove_empty_groups

V2 = Layout((Hierarchy(Path("/cg/unified"), ("memory", "pids", "cpu"), 2),), ())
V1 = Layout(tuple(Hierarchy(Path(f"/cg/{name}"), (name,), 1) for name in ("memory", "pids", "cpu", "freezer")), ())
HYBRID = Layout((Hierarchy(Path("/cg/unified"), (), 2), Hierarchy(Path("/cg/memory"), ("memory",), 1)), ())


def written(layout: Layout) -> dict[str, str]:
    return dict(limit_files(layout, Group.planned(layout, "sbx_1"), 1000, 1.5, 64))


def test_everything_is_written_through_v2_where_it_is_offered() -> None:
    folder = "/cg/unified/outlast-sbx_1"
    assert written(V2) == {
        f"{folder}/memory.max": "1000",
        f"{folder}/memory.swap.max": "0",
        f"{folder}/pids.max": "64",
        f"{folder}/cpu.max": "150000 100000",
    }


def test_v1_has_a_folder_for_each_controller() -> None:
    files = written(V1)
    assert files["/cg/memory/outlast-sbx_1/memory.limit_in_bytes"] == "1000"
    assert files["/cg/pids/outlast-sbx_1/pids.max"] == "64"
    assert files["/cg/cpu/outlast-sbx_1/cpu.cfs_quota_us"] == "150000"


def test_a_hybrid_layout_takes_limits_from_v1_and_freezing_from_v2() -> None:
    assert set(written(HYBRID)) == {
        "/cg/memory/outlast-sbx_1/memory.limit_in_bytes",
        "/cg/memory/outlast-sbx_1/memory.memsw.limit_in_bytes",
    }
    assert HYBRID.can_freeze
    assert HYBRID.enforces("memory")
    assert not HYBRID.enforces("pids")


def test_without_any_group_nothing_can_be_frozen() -> None:
    assert not Layout((), ()).can_freeze
    with pytest.raises(OSError, match="freezer"):
        Group(()).freeze()


def test_freezing_and_killing_write_the_core_files(tmp_path: Path) -> None:
    for name, text in (
        ("cgroup.freeze", "0"),
        ("cgroup.kill", ""),
        ("cgroup.procs", ""),
        ("cgroup.events", "frozen 1"),
    ):
        (tmp_path / name).write_text(text)
    group = Group((tmp_path,))
    group.freeze()
    assert (tmp_path / "cgroup.freeze").read_text() == "1"
    assert group.is_frozen()
    group.kill()
    assert (tmp_path / "cgroup.kill").read_text() == "1"


def test_counters_are_read_from_either_version(tmp_path: Path) -> None:
    (tmp_path / "memory.oom_control").write_text("oom_kill_disable 0\nunder_oom 0\noom_kill 3\n")
    (tmp_path / "pids.events").write_text("max 7\n")
    (tmp_path / "cpu.stat").write_text("usage_usec 2500000\n")
    group = Group((tmp_path,))
    assert (group.out_of_memory_kills(), group.refused_processes(), group.cpu_s()) == (3, 7, 2.5)


def test_a_group_left_empty_is_removed_when_it_is_old_and_one_in_use_never(tmp_path: Path) -> None:
    """The kernel keeps a group for a moment after its last process: whoever wanted to remove it may be gone by then."""
    layout = Layout((Hierarchy(tmp_path, ("memory",), 2),), ())
    for name in ("outlast-sbx_old", "outlast-sbx_new", "outlast-sbx_used", "somebody-else"):
        (tmp_path / name).mkdir()
    (tmp_path / "outlast-sbx_used" / "inside").mkdir()
    for name in ("outlast-sbx_old", "outlast-sbx_used", "somebody-else"):
        os.utime(tmp_path / name, (0, 0))
    remove_empty_groups(layout, older_than_s=3600)
    left = sorted(folder.name for folder in tmp_path.iterdir())
    assert left == ["outlast-sbx_new", "outlast-sbx_used", "somebody-else"]

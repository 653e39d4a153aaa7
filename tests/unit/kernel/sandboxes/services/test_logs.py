"""The end of what a service printed."""

from __future__ import annotations

from pathlib import Path

from outlast.kernel.sandboxes.services.logs import KEPT_BYTES, MAX_BYTES, ServiceLogs
from outlast_sandbox.egress.redaction import Redactor


def test_the_end_is_kept_and_the_file_stays_small(tmp_path: Path) -> None:
    logs = ServiceLogs(tmp_path)
    assert logs.tail("wsp_1", "web") == ""
    for number in range(40_000):
        logs.append("wsp_1", "web", b"line %d\n" % number)
    assert logs.tail("wsp_1", "web").endswith("line 39999\n")
    assert len(logs.tail("wsp_1", "web")) == KEPT_BYTES
    assert logs.tail("wsp_1", "web", 11) == "line 39999\n"
    assert (tmp_path / "wsp_1" / "web.log").stat().st_size <= MAX_BYTES


def test_one_huge_piece_is_cut_and_what_is_no_text_is_shown_as_such(tmp_path: Path) -> None:
    logs = ServiceLogs(tmp_path)
    logs.append("wsp_1", "web", b"x" * (2 * MAX_BYTES) + b"\xffend")
    assert logs.tail("wsp_1", "web").endswith("x\ufffdend")
    assert (tmp_path / "wsp_1" / "web.log").stat().st_size <= MAX_BYTES


def test_the_next_server_reads_on_and_a_removed_service_leaves_nothing(tmp_path: Path) -> None:
    ServiceLogs(tmp_path).append("wsp_1", "web", b"before\n")
    logs = ServiceLogs(tmp_path)
    logs.append("wsp_1", "web", b"after\n")
    assert logs.tail("wsp_1", "web") == "before\nafter\n"
    logs.forget("wsp_1", "web")
    logs.forget("wsp_1", "web")
    assert logs.tail("wsp_1", "web") == ""


def test_a_log_that_cannot_be_written_harms_nobody(tmp_path: Path) -> None:
    (tmp_path / "wsp_1").write_text("a file where a folder should be")
    ServiceLogs(tmp_path).append("wsp_1", "web", b"lost")
    assert ServiceLogs(tmp_path).tail("wsp_1", "web") == ""


def test_what_nobody_may_read_is_hidden(tmp_path: Path) -> None:
    logs = ServiceLogs(tmp_path, Redactor([b"sk-very-secret"]).hide)
    logs.append("wsp_1", "web", b"key=sk-very-")
    logs.append("wsp_1", "web", b"secret\n")
    assert logs.tail("wsp_1", "web") == "key=" + "*" * 14 + "\n"

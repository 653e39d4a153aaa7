"""Log lines: what happened, with its ids, for people and for programs."""

import logging
from pathlib import Path

import orjson

from outlast.base.logs import JsonLines, LogFile, TextLines


def record(level: int = logging.INFO, **extra: object) -> logging.LogRecord:
    made = logging.LogRecord("outlast.http", level, "file.py", 1, "request %s", ("done",), None)
    made.__dict__.update(extra)
    return made


def test_a_line_for_programs_is_one_json_object_with_its_ids():
    line = orjson.loads(JsonLines().format(record(run_id="run_1", attempt=2)))
    assert (line["level"], line["message"], line["run_id"], line["attempt"]) == ("info", "request done", "run_1", 2)
    assert line["time"].endswith("+00:00")


def test_a_line_for_people_names_its_ids_and_leaves_out_what_is_not_there():
    line = TextLines().format(record(run_id="run_1", user_id=None))
    assert line.endswith("http: request done run_id=run_1")


def test_a_traceback_follows_the_line():
    try:
        raise ValueError("no")
    except ValueError as error:
        made = record(logging.ERROR)
        made.exc_info = (type(error), error, error.__traceback__)
    assert "ValueError: no" in TextLines().format(made)
    assert "ValueError: no" in orjson.loads(JsonLines().format(made))["traceback"]


def test_what_comes_from_outside_cannot_make_a_line_of_its_own_or_talk_to_the_terminal():
    line = TextLines().format(record(path="/x\n12:00:00 info forged\x1b[31m\x00"))
    assert line.endswith("path=/x\\n12:00:00 info forged\\x1b[31m\\x00")


def test_a_log_file_is_kept_below_its_size_with_the_one_before(tmp_path: Path) -> None:
    file = LogFile(tmp_path / "logs" / "server.log", max_bytes=100)
    for number in range(100):
        file.emit(logging.makeLogRecord({"msg": f"line {number}"}))
    file.close()
    files = sorted((tmp_path / "logs").iterdir())
    assert [one.name for one in files] == ["server.log", "server.log.1"]
    assert all(one.stat().st_size <= 100 for one in files)
    assert (tmp_path / "logs").stat().st_mode & 0o077 == 0


def test_a_log_file_continues_after_a_restart(tmp_path: Path) -> None:
    for message in ("before", "after"):
        file = LogFile(tmp_path / "logs" / "server.log", max_bytes=100)
        file.emit(logging.makeLogRecord({"msg": message}))
        file.close()
    assert (tmp_path / "logs" / "server.log").read_text() == "before\nafter\n"

"""The server's own log: one line per event, with its ids as named fields.

Code logs with the standard library and gives facts as `extra={"run_id": …}`; the message says what happened, and never
contains users' text or a secret. Lines go to standard error, as text for people or as JSON for programs, and to a file
that `outlast logs` shows.
"""

import logging
import re
import sys
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any, Final

import orjson

LOG_PATH: Final = "logs/server.log"  # in the data directory
_STANDARD: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message", "taskName"}
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_QUIET: Final = ("uvicorn", "aiohttp", "alembic", "asyncio", "httpx", "httpcore", "websockets")


class JsonLines(logging.Formatter):
    """One JSON object per line: time, level, logger, message, the named fields, and the traceback if there is one."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **fields_of(record),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return orjson.dumps(line, default=str).decode()


class TextLines(logging.Formatter):
    """`12:00:01.250 info http request method=GET path=/v1/me status=200`."""

    def format(self, record: logging.LogRecord) -> str:
        named = "".join(f" {name}={value}" for name, value in fields_of(record).items() if value is not None)
        name = record.name.removeprefix("outlast.")
        named = _CONTROL.sub(_escaped, named)
        text = f"{_time(record)[11:23]} {record.levelname.lower():7} {name}: {record.getMessage()}{named}"
        return f"{text}\n{self.formatException(record.exc_info)}" if record.exc_info else text


def fields_of(record: logging.LogRecord) -> dict[str, Any]:
    """The fields that the caller passed as `extra`."""
    return {name: value for name, value in vars(record).items() if name not in _STANDARD}


class LogFile(RotatingFileHandler):
    """A file that is rotated at a size in bytes. The previous one is kept as `NAME.1`. On a full disk only its own
    lines are lost."""

    def __init__(self, path: Path, max_bytes: int) -> None:
        path.parent.mkdir(exist_ok=True, mode=0o700)
        super().__init__(path, maxBytes=max_bytes, backupCount=1, encoding="utf-8", errors="backslashreplace")

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Keep going."""


def set_up_logs(level: str, form: str, file: LogFile | None = None) -> None:
    """Send every log line to standard error and a file in this form ("text" or "json"). Call it once, at the start of
    the program."""
    handlers: list[logging.Handler] = [logging.StreamHandler(sys.stderr)]
    handlers += [file] if file is not None else []
    for handler in handlers:
        handler.setFormatter(JsonLines() if form == "json" else TextLines())
    logging.basicConfig(level=level.upper(), handlers=handlers, force=True)
    for name in _QUIET:
        logging.getLogger(name).setLevel(max(logging.WARNING, logging.getLogger().level))


def _escaped(found: re.Match[str]) -> str:
    """Escape line breaks and terminal control codes: paths and names come from outside."""
    return found[0].encode("unicode_escape").decode()


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")

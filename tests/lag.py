"""What fails a test whose event loop stood still; see `outlast.testing.lag`."""

from __future__ import annotations

from pathlib import Path

from outlast.testing.lag import STOOD_STILL


def assert_kept_going(log: Path) -> None:
    """The server that wrote this log was always there for its callbacks."""
    stalls = [line for line in log.read_text().splitlines() if STOOD_STILL in line]
    assert not stalls, "\n".join(stalls)

"""A server in a process of its own, as `outlast serve` starts it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.forked import Forked
from tests.lag import assert_kept_going

# The demo without sandboxes: it then has nothing to run, and only talks.
CONFIG = """
[server]
port = 0
data_dir = "{folder}"
[providers.demo]
kind = "demo"
delta_delay_s = 0.0
[[models]]
id = "demo"
provider = "demo"
name = "demo"
[sandbox]
provider = "none"
"""


@contextmanager
def served(config: Path, verb: str = "serve") -> Iterator[str]:
    """The address of a server that runs while this context is open, and stops in good order."""
    log = config.with_suffix(".log")
    log.write_text("")
    with Forked([verb, "--config", str(config)], log, module="tests.lag") as process:
        address = ""
        while not address and process.poll() is None:
            lines = log.read_text().splitlines()
            address = next((line.split()[-1] for line in lines if "is ready" in line), "")
        assert address, log.read_text()
        try:
            yield address
        finally:  # a failing test must not wait for a server that nobody stops
            process.terminate()
        assert process.wait(30) == 0
    assert_kept_going(log)

"""A service that speaks E2B's protocol: Outlast's own server, with local sandboxes, in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.flow.program.serving import served
from tests.forked import run_outlast

CONFIG = """
[server]
port = 0
data_dir = "{folder}"
[providers.demo]
kind = "demo"
[[models]]
id = "demo"
provider = "demo"
name = "demo"
[sandbox]
provider = "local"
max_awake = 20
disk_mb = 128
"""


@dataclass(frozen=True, slots=True)
class E2bService:
    """Where it is, and a key that it takes."""

    url: str
    key: str

    @property
    def options(self) -> dict[str, str]:
        return {"api_url": f"{self.url}/e2b", "sandbox_url": self.url}


@contextmanager
def serving_e2b(folder: Path) -> Iterator[E2bService]:
    config = folder / "outlast.toml"
    config.write_text(CONFIG.format(folder=folder / "data"))
    key = run_outlast("tokens", "create", "--config", str(config)).split()[-1]
    with served(config) as url:
        yield E2bService(url, key)

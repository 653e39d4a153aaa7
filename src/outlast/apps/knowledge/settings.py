"""Settings of documentation and its search."""

from typing import Final

from outlast.base.records import dataclass
from outlast.base.settings.checks import Where, check_each, check_service
from outlast.base.settings.fields import setting
from outlast.kernel.files.settings import TextSettings
from outlast_sandbox.host_patterns import parse_host_port

SOURCE_BYTES: Final = "knowledge.source_bytes"
PRIVATE_HINT: Final = (
    "add HOST:PORT to knowledge.allow_private, or to allow_private of the dependency, if it may be read"
)


@dataclass(frozen=True, slots=True)
class KnowledgeSettings(TextSettings):
    """Documentation that is fetched, indexed and searched."""

    refresh_hours: float = setting(
        "Interval for refreshing a source (0: only at the start and on request).", 24, unit="hours", least=0
    )
    pages_per_source: int = setting("Pages of one sitemap or list.", 300, unit="pages", least=1)
    timeout_s: float = setting("Longest wait for one address.", 30, unit="seconds", least=1)
    results: int = setting("Hits of a search without `limit`.", 5, unit="hits", least=1, most=50)
    allow_private: tuple[str, ...] = setting(
        "Private addresses (HOST:PORT) that documentation may be fetched from.", ()
    )

    def check(self, where: Where) -> None:
        """Raises `InvalidSetting`."""
        check_each("knowledge.allow_private", self.allow_private, parse_host_port, where)


@dataclass(frozen=True, slots=True)
class RerankSettings:
    """A re-ranker that sorts the best hits of a search; without one, their fused score does."""

    url: str = setting("Address of a /rerank service (query and documents in, scores out; empty turns it off).", "")
    model: str = setting("Name of the model.", "")
    api_key_env: str = setting("Environment variable with its key (empty: no key).", "")
    candidates: int = setting("Hits that are sorted.", 20, unit="hits", least=1, most=200)
    timeout_s: float = setting("Longest wait; after it, the order stays unchanged.", 3, unit="seconds", least=0.1)

    def check(self, where: Where) -> None:
        """Raises `InvalidSetting`."""
        check_service("rerank", self.url, self.api_key_env, where)


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """Memory that agents keep for later conversations."""

    enabled: bool = setting("If false, agents neither read nor write memories; existing ones can be deleted.", True)
    per_owner: int = setting("Memories of one project, and of one person.", 500, unit="memories", least=1)

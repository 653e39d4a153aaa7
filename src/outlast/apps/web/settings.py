"""Settings of the tools for the web."""

from collections.abc import Mapping
from outlast.base.records import dataclass
from typing import Final, Literal

from outlast.base.settings.checks import Where, check_each, check_service, refuse
from outlast.base.settings.fields import setting
from outlast_sandbox.host_patterns import parse_host_port

Service = Literal["none", "searxng", "brave", "tavily"]
_URLS: Final[Mapping[str, str]] = {"brave": "https://api.search.brave.com/res/v1", "tavily": "https://api.tavily.com"}
_KEY_ENVS: Final[Mapping[str, str]] = {"brave": "BRAVE_API_KEY", "tavily": "TAVILY_API_KEY"}


@dataclass(frozen=True, slots=True)
class WebSettings:
    """Tools with which agents search and read the web."""

    fetch: bool = setting("Agents may read public web pages (`web_fetch`).", False)
    search: Service = setting("Service that `web_search` asks; without one, agents cannot search.", "none")
    url: str = setting("Address of the search service; if empty, its own (SearXNG has none).", "")
    api_key_env: str = setting(
        "Environment variable with its key; if empty, BRAVE_API_KEY or TAVILY_API_KEY. SearXNG needs no key.", ""
    )
    results: int = setting("Results of one search.", 6, unit="results", least=1, most=20)
    timeout_s: float = setting("Longest wait for one address.", 20, unit="seconds", least=0.1, most=120)
    page_bytes: int = setting("Largest page.", 2_000_000, unit="bytes", least=1000, most=20_000_000)
    allow_private: tuple[str, ...] = setting("Private addresses (HOST:PORT) that agents may read.", ())

    @property
    def service_url(self) -> str:
        """The address of the search service, without a trailing slash."""
        return (self.url or _URLS.get(self.search, "")).rstrip("/")

    @property
    def key_env(self) -> str:
        """The environment variable that holds its key; empty for none."""
        return self.api_key_env or _KEY_ENVS.get(self.search, "")

    def check(self, where: Where) -> None:
        """Raises `InvalidSetting`."""
        check_service("web", self.url, self.api_key_env, where)
        if self.search == "searxng" and not self.url:
            refuse("web.url", "the address of your SearXNG beside web.search", "none", where, quoted=False)
        check_each("web.allow_private", self.allow_private, parse_host_port, where)

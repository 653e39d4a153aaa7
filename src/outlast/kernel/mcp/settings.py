"""Settings of MCP servers."""

from outlast.base.records import dataclass
from outlast.base.settings.checks import Where, check_each
from outlast.base.settings.fields import setting
from outlast_sandbox.host_patterns import parse_host_port


@dataclass(frozen=True, slots=True)
class McpSettings:
    """MCP servers whose tools agents can call."""

    most_per_project: int = setting("MCP servers of one project.", 20, unit="servers", least=0, most=200)
    most_tools: int = setting("Tools of one MCP server; more are left out.", 100, unit="tools", least=1, most=500)
    allow_private: tuple[str, ...] = setting("Private addresses (HOST:PORT) that MCP servers may have.", ())
    timeout_s: float = setting("Longest time of one call or listing.", 60, unit="seconds", least=0.1, most=600)
    idle_s: float = setting("A package's server ends after this long without a call.", 300, unit="seconds", least=5)
    package_memory_mb: int = setting("Memory of one package's server.", 512, unit="megabytes", least=64, most=16_384)
    most_packages: int = setting(
        "Servers of packages that run at a time; the one unused for longest ends first.", 20, unit="servers", least=1
    )
    relist_after_s: float = setting(
        "Age of a listing after which the next call lists the server's tools again.", 300, unit="seconds", least=0
    )

    def check(self, where: Where) -> None:
        """Raises `InvalidSetting`."""
        check_each("mcp.allow_private", self.allow_private, parse_host_port, where)

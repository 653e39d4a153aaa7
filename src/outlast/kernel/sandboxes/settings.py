"""Settings of sandboxes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from outlast.base.settings.fields import no_entries, setting


@dataclass(frozen=True, slots=True)
class DependencySettings:
    """One [[sandbox.dependencies]] table: a package that sandboxes have installed, or a service that they may reach."""

    package: str = setting(
        "npm:NAME@VERSION, pypi:NAME==VERSION, or a bare npm name; empty: nothing is installed for it.", ""
    )
    name: str = setting(
        "What its documentation is filed under in searches; empty: the package, else its first host.", ""
    )
    docs: tuple[str, ...] = setting(
        "Its documentation: addresses or files of Markdown, llms.txt or a sitemap, a folder, or `package` for what "
        "the installed package brings along.",
        (),
    )
    secret_env: str = setting(
        "Environment variable whose value only the egress proxy knows; sandboxes have a placeholder in it.", ""
    )
    hosts: tuple[str, ...] = setting(
        "Hosts that sandboxes may reach for it (HOST, *.HOST, with an optional :PORT), and that its secret is sent to.",
        (),
    )
    allow_private: tuple[str, ...] = setting(
        "Private addresses (HOST:PORT) that sandboxes may reach for it, where its secret may go without TLS.", ()
    )


@dataclass(frozen=True, slots=True)
class SandboxSettings:
    """The isolated machines that agents work in. A file without this section, or provider = "none", offers no sandbox
    tools; without a file there are local ones."""

    provider: str = setting(
        "local, docker, e2b, deno (unproven: never run against the real service), none, or the name of an installed"
        " provider.",
        "local",
    )
    mode: Literal["lazy", "warm"] = setting("Made at the first tool call, or with the thread.", "lazy")
    region: str = setting("Region of a hosted provider.", "")
    volume_ttl_minutes: float = setting(
        "A workspace's fast copy is given up this long after its last use.", 30, unit="minutes", least=0
    )
    idle_pause_s: float = setting("Frozen after being idle this long.", 900, unit="seconds", least=0)
    stop_after_s: float = setting("Stopped (memory freed) after being idle this long.", 1800, unit="seconds", least=0)
    kill_after_s: float = setting("Removed after being idle this long; files stay.", 86_400, unit="seconds", least=1)
    max_awake: int = setting("Most sandboxes awake at a time; 0: as memory allows.", 0, unit="sandboxes", least=0)
    orphan_minutes: float = setting(
        "Ended this long after its server went and did not come back; its files stay (providers local and docker).",
        60,
        unit="minutes",
        least=0,
    )
    max_hosted_per_project: int = setting(
        "Most sandboxes that programs of one project run at a time; 0: three quarters of max_awake.",
        0,
        unit="sandboxes",
        least=0,
    )
    memory_mb: int = setting("Memory of one sandbox.", 1024, unit="MiB", least=64)
    cpus: float = setting("Processor cores of one sandbox.", 1.0, unit="cores", least=0.05)
    processes: int = setting("Processes and threads in one sandbox.", 256, unit="processes", least=16)
    disk_mb: int = setting("Disk space of one workspace.", 2048, unit="MiB", least=16)
    output_bytes: int = setting("Output of one command that is kept.", 200_000, unit="bytes", least=1000)
    command_timeout_s: float = setting("Longest one command may run.", 600, unit="seconds", least=1)
    preview_base_domain: str = setting("Domain under which previews are served; empty: preview.localhost.", "")
    setup: tuple[str, ...] = setting("Shell commands run once while the snapshot is built.", ())
    template: str = setting("Folder whose files lie in the home folder of every sandbox; empty: none.", "")
    snapshot_days: float = setting(
        "A snapshot that no sandbox was started from for this long is removed.", 14, unit="days", least=0
    )
    allow_hosts: tuple[str, ...] = setting(
        "Hosts that every sandbox may reach, without secrets: HOST, *.HOST or *, each with an optional :PORT (else 80 "
        "and 443).",
        (),
    )
    secret_lookup: str = setting(
        "Where the values of secrets come from: the name of an installed look-up, which gives each user their own; "
        "empty: the server's environment variables, the same for everybody.",
        "",
    )
    options: Mapping[str, Any] = setting("Handed to the provider as they are.", factory=no_entries)
    dependencies: tuple[DependencySettings, ...] = setting("Packages that sandboxes have installed.", ())

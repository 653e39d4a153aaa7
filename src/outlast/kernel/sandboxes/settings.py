"""Settings of sandboxes."""

from collections.abc import Mapping
from typing import Any, Final, Literal

from outlast.base.records import dataclass
from outlast.base.settings.fields import no_entries, setting

NO_SANDBOXES_HINT: Final = 'Set provider = "local" in the section [sandbox].'


@dataclass(frozen=True, slots=True)
class DependencySettings:
    """One [[sandbox.dependencies]] table: a package that is installed in sandboxes, or a service that they may
    reach."""

    package: str = setting(
        "npm:NAME@VERSION, pypi:NAME==VERSION, or a bare npm name (default: nothing is installed).", ""
    )
    name: str = setting("Name of its documentation in searches (default: the package, otherwise its first host).", "")
    docs: tuple[str, ...] = setting(
        "Its documentation: addresses or files of Markdown, llms.txt or a sitemap, a folder, or `package` for the "
        "documentation in the installed package.",
        (),
    )
    secret_env: str = setting(
        "Environment variable whose value only the egress proxy knows; sandboxes see a placeholder.", ""
    )
    hosts: tuple[str, ...] = setting(
        "Hosts that sandboxes may reach for it (HOST, *.HOST, with an optional :PORT), and that its secret is sent to.",
        (),
    )
    allow_private: tuple[str, ...] = setting(
        "Private addresses (HOST:PORT) that sandboxes may reach for it; its secret may be sent there without TLS.", ()
    )


@dataclass(frozen=True, slots=True)
class HostSettings:
    """One [[sandbox.hosts]] table: a machine whose Docker or Podman runs sandboxes (provider docker)."""

    name: str = setting("Its name, without a slash; sandboxes remember it.")
    url: str = setting("tcp://HOST:PORT (with TLS), ssh://USER@HOST, or unix:///PATH.")
    tls_ca: str = setting("File (PEM) of the authority that signed its certificate (default: the system's).", "")
    tls_cert: str = setting("File (PEM) of this server's certificate for it.", "")
    tls_key: str = setting("File (PEM) of that certificate's key.", "")
    labels: tuple[str, ...] = setting("Labels that sandboxes may ask for.", ())
    capacity: int = setting("Most sandboxes on it.", 50, unit="sandboxes", least=1)


@dataclass(frozen=True, slots=True)
class SandboxSettings:
    """The isolated machines that agents work in. A file without this section, or provider = "none", offers no sandbox
    tools; without a file, sandboxes are local."""

    provider: str = setting(
        "local, docker, e2b, deno (unproven: never run against the real service), none, or the name of an installed"
        " provider.",
        "local",
    )
    mode: Literal["lazy", "warm"] = setting(
        "Start sandboxes at the first tool call (lazy), or with the thread (warm).", "lazy"
    )
    region: str = setting("Region of a hosted provider.", "")
    volume_ttl_minutes: float = setting(
        "A workspace's fast copy is removed this long after its last use.", 30, unit="minutes", least=0
    )
    idle_pause_s: float = setting("Frozen after being idle this long.", 900, unit="seconds", least=0)
    stop_after_s: float = setting("Stopped (memory freed) after being idle this long.", 1800, unit="seconds", least=0)
    kill_after_s: float = setting("Removed after being idle this long; files stay.", 86_400, unit="seconds", least=1)
    max_awake: int = setting(
        "Most sandboxes awake at a time; 0 means as many as fit into memory.", 0, unit="sandboxes", least=0
    )
    orphan_minutes: float = setting(
        "Ended this long after its server stopped without a restart; its files stay (providers local and docker).",
        60,
        unit="minutes",
        least=0,
    )
    max_hosted_per_project: int = setting(
        "Most sandboxes that programs of one project run at a time; 0 means three quarters of max_awake.",
        0,
        unit="sandboxes",
        least=0,
    )
    memory_mb: int = setting("Memory of one sandbox.", 1024, unit="MiB", least=64)
    cpus: float = setting("Processor cores of one sandbox.", 1.0, unit="cores", least=0.05)
    processes: int = setting("Processes and threads in one sandbox.", 256, unit="processes", least=16)
    disk_mb: int = setting("Disk space of one workspace.", 2048, unit="MiB", least=16)
    output_bytes: int = setting("Most output kept of one command.", 200_000, unit="bytes", least=1000)
    command_timeout_s: float = setting("Time limit of one command.", 600, unit="seconds", least=1)
    preview_base_domain: str = setting("Domain under which previews are served (default: preview.localhost).", "")
    setup: tuple[str, ...] = setting("Shell commands run once while the snapshot is built.", ())
    template: str = setting("Folder whose files are copied into the home folder of every sandbox (default: none).", "")
    snapshot_days: float = setting(
        "A snapshot that no sandbox was started from for this long is removed.", 14, unit="days", least=0
    )
    allow_hosts: tuple[str, ...] = setting(
        "Hosts that every sandbox may reach, without secrets: HOST, *.HOST or *, each with an optional :PORT "
        "(default: 80 and 443).",
        (),
    )
    secret_lookup: str = setting(
        "Source of secrets' values: the name of an installed look-up, which returns each user's own values "
        "(default: the server's environment variables, the same for all users).",
        "",
    )
    hosts: tuple[HostSettings, ...] = setting(
        "Machines that sandboxes live on, with provider docker (default: this machine).", ()
    )
    options: Mapping[str, Any] = setting("Options passed to the provider unchanged.", factory=no_entries)
    dependencies: tuple[DependencySettings, ...] = setting("Packages installed in sandboxes.", ())

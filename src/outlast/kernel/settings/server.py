"""Settings of the whole server: where it listens and stores, how it stops, what it logs."""

from dataclasses import dataclass
from typing import Literal

from outlast.base.settings.fields import SecretUrl, setting


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Where the server listens and keeps its data."""

    host: str = setting(
        "Address to listen on; any other than a loopback address needs a token in the database.",
        "127.0.0.1",
        env="OUTLAST_HOST",
    )
    port: int = setting("Port to listen on; 0 chooses a free one.", 8400, least=0, most=65535, env="OUTLAST_PORT")
    data_dir: str = setting(
        "Folder for the database file, stored files and workspaces; made when missing, used by one server.",
        "outlast-data",
        env="OUTLAST_DATA_DIR",
    )
    public_url: str = setting(
        "Address under which browsers reach the server, as https://outlast.example.org; empty: the listen address.",
        "",
        env="OUTLAST_PUBLIC_URL",
    )
    allowed_hosts: tuple[str, ...] = setting("More values accepted in the Host header.", ())
    stop_grace_s: float = setting(
        "How long a stopping server lets work finish before it hands it back.", 10.0, unit="seconds", least=0
    )


@dataclass(frozen=True, slots=True)
class DatabaseSettings:
    """The only truth: where everything is stored."""

    url: SecretUrl = setting(
        "sqlite:///FILE (relative to the data directory) or postgresql://USER:PASSWORD@HOST:PORT/NAME.",
        SecretUrl("sqlite:///outlast.db"),
    )


@dataclass(frozen=True, slots=True)
class BlobSettings:
    """Where attached files lie."""

    url: SecretUrl = setting("A folder; relative to the data directory.", SecretUrl("blobs"))


@dataclass(frozen=True, slots=True)
class DemoSettings:
    """What a server without a model and without dependencies of its own brings along, to be tried out."""

    tracker: bool = setting(
        "A small issues tracker on a loopback port, with documentation and a secret of its own, for pages to work "
        "with; there only where every model is the demo's, on SQLite, and no dependency is configured.",
        True,
    )
    reset: bool = setting("Its issues begin anew at each start.", False)


@dataclass(frozen=True, slots=True)
class LogSettings:
    """What the server writes about itself."""

    level: Literal["debug", "info", "warning", "error"] = setting("Least important line written.", "info")
    format: Literal["text", "json"] = setting("For people or for programs.", "text")
    file_mb: int = setting("Size at which the log file starts again. 0: no file.", 10, unit="MB", least=0)


@dataclass(frozen=True, slots=True)
class LiveSettings:
    """How live text reaches other servers."""

    redis_url: SecretUrl = setting(
        "Reserved: it has no effect yet. Servers share live text through PostgreSQL.", SecretUrl("")
    )

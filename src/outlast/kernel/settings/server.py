"""Settings of the whole server: where it listens and stores, how it stops, what it logs."""

from typing import Literal

from outlast.base.records import dataclass
from outlast.base.settings.fields import SecretUrl, setting
from outlast.db.postgres_options import POOL_SIZE


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """The server's address and data directory."""

    host: str = setting(
        "Address to listen on; an address that is not loopback requires a token in the database.",
        "127.0.0.1",
        env="OUTLAST_HOST",
    )
    port: int = setting("Port to listen on; 0 chooses a free one.", 8400, least=0, most=65535, env="OUTLAST_PORT")
    data_dir: str = setting(
        "Folder for the database file, stored files and workspaces; created if missing, used by one server.",
        "outlast-data",
        env="OUTLAST_DATA_DIR",
    )
    public_url: str = setting(
        "Address under which browsers reach the server, as https://outlast.example.org; if empty, the listen address.",
        "",
        env="OUTLAST_PUBLIC_URL",
    )
    allowed_hosts: tuple[str, ...] = setting("Additional values accepted in the Host header.", ())
    stop_grace_s: float = setting(
        "Time that a stopping server gives work to finish before it releases it.", 10.0, unit="seconds", least=0
    )


@dataclass(frozen=True, slots=True)
class DatabaseSettings:
    """The database, the only source of truth."""

    url: SecretUrl = setting(
        "sqlite:///FILE (relative to the data directory) or postgresql://USER:PASSWORD@HOST:PORT/NAME.",
        SecretUrl("sqlite:///outlast.db"),
    )
    pool_size: int = setting(
        "Connections to PostgreSQL that one server or worker uses at a time for transactions; it has two more.",
        POOL_SIZE,
        unit="connections",
        least=1,
        most=1000,
    )


@dataclass(frozen=True, slots=True)
class BlobSettings:
    """The storage of attached files."""

    url: SecretUrl = setting("A folder; relative to the data directory.", SecretUrl("blobs"))


@dataclass(frozen=True, slots=True)
class DemoSettings:
    """The demo of a server without configured models and dependencies."""

    tracker: bool = setting(
        "A small issue tracker on a loopback port, with its own documentation and secret, for pages to work "
        "with. Runs only if every model is the demo's, on SQLite, and no dependency is configured.",
        True,
    )
    reset: bool = setting("Reset its issues at each start.", False)


@dataclass(frozen=True, slots=True)
class LogSettings:
    """The server's own log."""

    level: Literal["debug", "info", "warning", "error"] = setting("Lowest level that is written.", "info")
    format: Literal["text", "json"] = setting("Format of lines: for people or for programs.", "text")
    file_mb: int = setting("Size at which the log file is rotated. 0 for no file.", 10, unit="MB", least=0)


@dataclass(frozen=True, slots=True)
class LiveSettings:
    """The transport of live text between servers."""

    redis_url: SecretUrl = setting(
        "redis://:PASSWORD@HOST:6379/0 of a Redis 7 or newer, through which text reaches followers on other servers "
        "within milliseconds. If empty, it goes through PostgreSQL, within about a tenth of a second.",
        SecretUrl(""),
    )

"""The tracker as a sidecar of a server: its folder, its address, and the dependency that agents find it by."""

import logging
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import ClassVar, Final

import anyio
from anyio.abc import TaskStatus

from outlast.base.clock import Clock
from outlast.base.errors import StartRefused
from outlast.kernel.sandboxes.settings import DependencySettings
from outlast.kernel.settings import Settings
from outlast.surfaces.http.server import HttpServer, bind
from outlast_demo.tracker.access import VERSION
from outlast_demo.tracker.application import tracker_app
from outlast_demo.tracker.request_log import RequestLog
from outlast_demo.tracker.storage import Kept, open_book, open_secret
from outlast_sandbox.egress.authority_store import write_private
from outlast_sandbox.egress.secrets import SecretValue

NAME: Final = "issues-tracker"
SECRET_ENV: Final = "ISSUES_TOKEN"
FOLDER: Final = "demo"
PORT: Final = "port"
REQUESTS: Final = "requests.log"
DOCS: Final = "issues-tracker.md"
# A separate loopback address where the system has more than one: programs in a sandbox still reach their own servers
# on 127.0.0.1 directly.
ADDRESSES: Final = ("127.0.0.2", "127.0.0.1")
GRACE_S: Final = 2.0
log = logging.getLogger("outlast.demo")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracker:
    """The demo's service. Its port is bound; it listens once `run` has started."""

    name: ClassVar[str] = "demo tracker"

    listener: socket.socket = field(repr=False)
    kept: Kept = field(repr=False)
    secret: SecretValue
    requests: RequestLog = field(repr=False)
    clock: Clock = field(repr=False)
    docs: Path

    @property
    def authority(self) -> str:
        host, port = self.listener.getsockname()[:2]
        return f"{host}:{port}"

    @property
    def secrets(self) -> Mapping[str, str]:
        """Secrets in addition to those of the environment, by name."""
        return {SECRET_ENV: self.secret.reveal().decode()}

    def dependency(self) -> DependencySettings:
        """The dependency as an operator would configure it."""
        return DependencySettings(
            name=NAME,
            docs=(str(self.docs),),
            secret_env=SECRET_ENV,
            hosts=(self.authority,),
            allow_private=(self.authority,),
        )

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Serve until cancelled."""
        app = tracker_app(self.kept, self.secret, self.requests, self.clock)
        server = HttpServer(app, [self.listener], GRACE_S, close_streams=lambda: None)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.run_until_stopped)
            await server.ready.wait()
            log.info("the demo's issues tracker is listening", extra={"address": self.authority})
            task_status.started()

    def close(self) -> None:
        """Releases the port."""
        self.listener.close()


class TrackerSidecar:
    """Opens the tracker for a server that has no model but the demo's."""

    summary: ClassVar[str] = (
        "The demo model is active, with an issues tracker: create a page and say “show my open issues”."
    )

    def is_wanted(self, settings: Settings) -> bool:
        """True for one process with no model but the demo's, sandboxes on this machine, and no configured dependencies
        or secrets."""
        sandbox = settings.sandbox
        return (
            settings.demo.tracker
            and sandbox is not None
            and sandbox.provider == "local"
            and not (sandbox.dependencies or sandbox.secret_lookup)
            and all(provider.kind == "demo" for provider in settings.providers.values())
            and settings.database.url.startswith("sqlite:")
        )

    def open(self, settings: Settings, folder: Path, clock: Clock) -> Tracker | None:
        """Creates the token, issues and documentation that are missing. None if there is no free loopback port."""
        home = folder / FOLDER
        home.mkdir(mode=0o700, exist_ok=True)
        listener = _listener(home)
        if listener is None:
            log.warning("the demo's issues tracker is off: no loopback port is free")
            return None
        docs = home / "docs" / DOCS
        tracker = Tracker(
            listener=listener,
            kept=open_book(home, clock, reset=settings.demo.reset),
            secret=open_secret(home),
            requests=RequestLog(home / REQUESTS, clock),
            clock=clock,
            docs=docs,
        )
        write_private(docs, documentation(f"http://{tracker.authority}/v2").encode())
        return tracker


SIDECAR: Final = TrackerSidecar()


def documentation(base_url: str) -> str:
    """The API's documentation in Markdown, for a tracker at this address."""
    text = files("outlast_demo.tracker").joinpath("docs.md").read_text(encoding="utf-8")
    return text.replace("{base_url}", base_url).replace("{version}", VERSION).replace("{secret_env}", SECRET_ENV)


def _listener(home: Path) -> socket.socket | None:
    """A socket on the last start's port, so that saved code and pages still work; otherwise on any free port."""
    last = _last_port(home)
    for host in ADDRESSES:
        for port in (last, 0) if last else (0,):
            try:
                listener = bind(host, port)
            except StartRefused:
                continue
            write_private(home / PORT, str(listener.getsockname()[1]).encode())
            return listener
    return None


def _last_port(home: Path) -> int:
    try:
        port = int((home / PORT).read_bytes()[:6])
    except (OSError, ValueError):
        return 0
    return port if 0 < port < 65_536 else 0

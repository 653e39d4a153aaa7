"""The services that every action receives."""

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import field
from functools import wraps
from typing import Any, Concatenate

from outlast.base.clock import Clock, SystemClock
from outlast.base.records import dataclass
from outlast.base.supervision.supervisor import Supervisor
from outlast.db.blobs.port import Blobs
from outlast.db.database import Database, P, T, Tx
from outlast.kernel.apps.ports import Port
from outlast.kernel.connections.account_tokens import AccountTokens
from outlast.kernel.models.catalog import ModelCatalog
from outlast.kernel.presence.board import PresenceBoard
from outlast.kernel.runs.engine import Engine
from outlast.kernel.runs.followers import Watching
from outlast.kernel.runs.sweeper import SandboxSteps
from outlast.kernel.sandboxes.checkpoints.keeper import CheckpointKeeper
from outlast.kernel.sandboxes.egress.keeper import EgressKeeper
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.sandboxes.other_servers import Attended, OtherServers
from outlast.kernel.sandboxes.seeds import Seeds
from outlast.kernel.sandboxes.services.keeper import ServiceKeeper
from outlast.kernel.sandboxes.snapshots.keeper import SnapshotKeeper
from outlast.kernel.sandboxes.studio import ServerStudio
from outlast.kernel.secrets.vault import Vault
from outlast.kernel.settings import Settings
from outlast.kernel.streams.hub import Hub


def cold(_wanted: str) -> None:
    """Do nothing: sandboxes are created at their first use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxServices:
    """The services of sandboxes. `manager` opens workspaces, `keeper` runs their services, `checkpoints` saves their
    files, `snapshots` builds their base images, and `steps` is the interface for runs (all None if sandboxes are not
    configured). `attended` and `others` work beside other servers (None unless all reach the sandboxes). `egress` gives
    them network access (None if nothing is reachable, or the provider does it), `studio` takes screenshots of screens.
    `seeds` has the initial files of app templates. Call `want_snapshot` with each app template that will be needed
    soon, and `warm` with each thread that is created or gets a run."""

    manager: SandboxManager | None = None
    keeper: ServiceKeeper | None = None
    attended: Attended | None = None
    others: OtherServers | None = None
    checkpoints: CheckpointKeeper | None = None
    snapshots: SnapshotKeeper | None = None
    egress: EgressKeeper | None = None
    studio: ServerStudio | None = None
    steps: SandboxSteps | None = None
    seeds: Seeds | None = None
    want_snapshot: Callable[[str], None] = cold
    warm: Callable[[str], None] = cold


def no_packages() -> None:
    """Look for packages of MCP servers to install: there is no service for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """The opened resources of one server, wired in `app.py`. `states` is the in-memory state of apps, by class;
    `implementations` are those of the ports that apps opened; `supervisor` runs the services beside the requests. Call
    `want_packages` when a package that is an MCP server was added."""

    db: Database
    clock: Clock
    settings: Settings
    blobs: Blobs
    presence: PresenceBoard
    hub: Hub
    catalog: ModelCatalog
    vault: Vault
    accounts: AccountTokens
    engine: Engine
    watching: Watching
    sandboxes: SandboxServices = field(default_factory=SandboxServices)
    states: Mapping[type, Any] = field(default_factory=dict)
    implementations: Mapping[Port[Any], Any] = field(default_factory=dict)
    supervisor: Supervisor = field(default_factory=lambda: Supervisor(SystemClock()))
    want_packages: Callable[[], None] = no_packages

    def state(self, kind: type[T]) -> T:
        """An app's in-memory state of this class (`App.state`)."""
        found: T = self.states[kind]
        return found

    def implementation(self, port: Port[T]) -> T:
        """An app's implementation of a port that it opened (`App.opens`), or the port's `empty` one."""
        found: T = self.implementations.get(port, port.empty)
        return found


def in_read(run: Callable[Concatenate[Tx, P], T]) -> Callable[Concatenate[Services, P], Coroutine[Any, Any, T]]:
    """Turn a function that only reads into an action: the action takes the services in place of the transaction, and
    calls the function in one reading transaction."""

    @wraps(run)
    async def action(services: Services, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await services.db.read(run, *args, **kwargs)

    return action


def in_write(run: Callable[Concatenate[Tx, P], T]) -> Callable[Concatenate[Services, P], Coroutine[Any, Any, T]]:
    """As `in_read`, in one writing transaction: nothing is written when the function raises."""

    @wraps(run)
    async def action(services: Services, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await services.db.write(run, *args, **kwargs)

    return action


def in_read_with_services(
    run: Callable[Concatenate[Tx, Services, P], T],
) -> Callable[Concatenate[Services, P], Coroutine[Any, Any, T]]:
    """As `in_read`, for a function that takes the services too, after the transaction."""

    @wraps(run)
    async def action(services: Services, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await services.db.read(lambda tx: run(tx, services, *args, **kwargs))

    return action


def in_write_with_services(
    run: Callable[Concatenate[Tx, Services, P], T],
) -> Callable[Concatenate[Services, P], Coroutine[Any, Any, T]]:
    """As `in_write`, for a function that takes the services too, after the transaction."""

    @wraps(run)
    async def action(services: Services, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await services.db.write(lambda tx: run(tx, services, *args, **kwargs))

    return action

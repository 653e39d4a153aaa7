"""Services that a workspace declares: list, declare, remove; and the logs of a sandbox."""

from typing import Final

from outlast.base.clock import iso
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.projects.rules import Right
from outlast.kernel.sandboxes.actions import machines_of
from outlast.kernel.sandboxes.services import store
from outlast.kernel.sandboxes.services.keeper import ServiceKeeper
from outlast.kernel.sandboxes.services.rules import Declared
from outlast.kernel.sandboxes.services.store import ServiceRecord
from outlast.kernel.sandboxes.shapes import LogAnswer, ServiceAnswer
from outlast.kernel.sandboxes.views import require_row
from outlast.kernel.services import Services

SANDBOX: Final = "sandbox"


async def list_services(services: Services, actor: Actor, sandbox_id: str) -> list[ServiceAnswer]:
    """The services of the sandbox's workspace, by name. They stay when the sandbox is replaced."""

    def run(tx: Tx) -> list[ServiceAnswer]:
        row = require_row(tx, actor, sandbox_id, Right.READ)
        return [_view(service) for service in store.services_of(tx, row.sandbox.workspace_id)]

    return await services.db.read(run)


async def read_service(services: Services, actor: Actor, sandbox_id: str, name: str) -> ServiceAnswer:
    """Raises `NotFound`."""

    def run(tx: Tx) -> ServiceAnswer:
        row = require_row(tx, actor, sandbox_id, Right.READ)
        return _view(store.service_of(tx, row.sandbox.workspace_id, name))

    return await services.db.read(run)


async def put_service(services: Services, actor: Actor, sandbox_id: str, wanted: Declared) -> ServiceAnswer:
    """Declare a service, or replace its declaration (editors). It starts now if the sandbox is awake, else with it. A
    repeated declaration leaves what runs alone, but starts a failed one again. Raises `MalformedInput`."""
    row = await services.db.read(require_row, actor, sandbox_id, Right.EDIT)
    return _view(await _keeper(services).declare(row.sandbox.workspace_id, wanted))


async def remove_service(services: Services, actor: Actor, sandbox_id: str, name: str) -> None:
    """End it and forget it with its log (editors). Raises `NotFound`."""
    row = await services.db.read(require_row, actor, sandbox_id, Right.EDIT)
    await _keeper(services).remove(row.sandbox.workspace_id, name)


async def read_logs(services: Services, actor: Actor, sandbox_id: str) -> list[LogAnswer]:
    """What the shim wrote since its start, then the last 64 KiB of each service's output. Nothing is
    woken; secrets that the server knows are hidden."""

    def run(tx: Tx) -> tuple[str, list[ServiceRecord]]:
        row = require_row(tx, actor, sandbox_id, Right.READ)
        return row.sandbox.workspace_id, store.services_of(tx, row.sandbox.workspace_id)

    workspace_id, declared = await services.db.read(run)
    keeper = _keeper(services)
    noted = await machines_of(services).log_of(workspace_id, sandbox_id)
    own = keeper.logs.hide(noted.encode()).decode("utf-8", "replace")
    of_services = [(one.name, keeper.logs.tail(workspace_id, one.name)) for one in declared]
    return [LogAnswer(source=source, text=text) for source, text in [(SANDBOX, own), *of_services]]


def _keeper(services: Services) -> ServiceKeeper:
    machines_of(services)  # says what to configure where there are none
    assert services.sandboxes.keeper is not None
    return services.sandboxes.keeper


def _view(row: ServiceRecord) -> ServiceAnswer:
    declared = row.declared
    return ServiceAnswer(
        name=declared.name,
        command=declared.command,
        port=declared.port,
        health_path=declared.health_path,
        state=row.state.value,
        error=row.error,
        restarts=row.restarts,
        created_at=iso(row.created_at),
        changed_at=iso(row.changed_at),
    )

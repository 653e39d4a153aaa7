"""Services that a workspace declares: list, declare, remove; and the logs of a sandbox."""

from typing import Final

from outlast.base.clock import iso
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.projects.permissions import require_sandbox
from outlast.kernel.projects.rules import Right
from outlast.kernel.sandboxes.actions import machines_of
from outlast.kernel.sandboxes.rows import ServiceRow
from outlast.kernel.sandboxes.services import store
from outlast.kernel.sandboxes.services.keeper import ServiceKeeper
from outlast.kernel.sandboxes.services.rules import Declared
from outlast.kernel.sandboxes.shapes import LogAnswer, ServiceAnswer
from outlast.kernel.services import Services, in_read

SANDBOX: Final = "sandbox"


@in_read
def list_services(tx: Tx, actor: Actor, sandbox_id: str) -> list[ServiceAnswer]:
    """The services of the sandbox's workspace, by name. They stay when the sandbox is replaced."""
    return [_view(row) for row in store.services_of(tx, _workspace(tx, actor, sandbox_id, Right.READ))]


@in_read
def read_service(tx: Tx, actor: Actor, sandbox_id: str, name: str) -> ServiceAnswer:
    """Raises `NotFound`."""
    return _view(store.service_of(tx, _workspace(tx, actor, sandbox_id, Right.READ), name))


async def put_service(services: Services, actor: Actor, sandbox_id: str, wanted: Declared) -> ServiceAnswer:
    """Declare a service, or replace its declaration (editors). It starts now if the sandbox is awake, otherwise with
    the sandbox. A repeated declaration leaves a running service unchanged, but restarts a failed one. Raises
    `MalformedInput`."""
    workspace_id = await services.db.read(_workspace, actor, sandbox_id, Right.EDIT)
    return _view(await _keeper(services).declare(workspace_id, wanted))


async def remove_service(services: Services, actor: Actor, sandbox_id: str, name: str) -> None:
    """End the service and remove it with its log (editors). Raises `NotFound`."""
    workspace_id = await services.db.read(_workspace, actor, sandbox_id, Right.EDIT)
    await _keeper(services).remove(workspace_id, name)


async def read_logs(services: Services, actor: Actor, sandbox_id: str) -> list[LogAnswer]:
    """The shim's output since its start, then the last 64 KiB of each service's output. No sandbox is woken; secrets
    that the server knows are hidden."""

    workspace_id = await services.db.read(_workspace, actor, sandbox_id, Right.READ)
    declared = await services.db.read(store.services_of, workspace_id)
    keeper = _keeper(services)
    noted = await machines_of(services).log_of(workspace_id, sandbox_id)
    own = keeper.logs.hide(noted.encode()).decode("utf-8", "replace")
    of_services = [(one.name, keeper.logs.tail(workspace_id, one.name)) for one in declared]
    return [LogAnswer(source=source, text=text) for source, text in [(SANDBOX, own), *of_services]]


def _keeper(services: Services) -> ServiceKeeper:
    machines_of(services)  # raises with the settings to change if there are no sandboxes
    assert services.sandboxes.keeper is not None
    return services.sandboxes.keeper


def _workspace(tx: Tx, actor: Actor, sandbox_id: str, right: Right) -> str:
    return require_sandbox(tx, actor, sandbox_id, right).workspace_id


def _view(row: ServiceRow) -> ServiceAnswer:
    facts = row._asdict()
    del facts["workspace_id"]
    return ServiceAnswer(**facts | {"created_at": iso(row.created_at), "changed_at": iso(row.changed_at)})

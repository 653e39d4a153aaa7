"""The page that a visitor sees while there is no connection yet: the reason for waiting, or the next step."""

import re
from typing import Final

from outlast.kernel.previews.actions import Visitor
from outlast.kernel.previews.notices import Notice
from outlast.kernel.previews.wake import Waiting
from outlast.kernel.sandboxes.rows import ServiceRow
from outlast.kernel.sandboxes.services.store import services_of
from outlast.kernel.services import Services

PAGE_PATIENCE_S: Final = 1.5  # then the page shows what it waits for
GIVE_UP_S: Final = 60.0  # then the page shows the next step
SOON_S: Final = 1
LATER_S: Final = 5
LOG_BYTES: Final = 4_000
COLOURS: Final = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")  # and other control sequences of terminals


async def waiting_page(services: Services, visitor: Visitor, waiting: Waiting) -> Notice:
    """The notice for a visitor with access, with the end of the output of the service that is declared on the port."""
    for service in await services.db.read(services_of, visitor.workspace_id):
        if service.port == visitor.port:
            return _not_yet(waiting, visitor.port, service, _log_end(services, service))
    return _not_yet(waiting, visitor.port, None, "")


def _log_end(services: Services, service: ServiceRow) -> str:
    if services.sandboxes.keeper is None:
        return service.error or ""
    return COLOURS.sub("", services.sandboxes.keeper.logs.tail(service.workspace_id, service.name, LOG_BYTES)).strip()


def _not_yet(waiting: Waiting, port: int, service: ServiceRow | None, log: str) -> Notice:
    """The notice with the reason why a visitor must wait, or why waiting does not help."""
    if waiting.kind == "refused":
        return Notice(503, "The sandbox is not available", waiting.why, waiting.hint)
    if service is not None and service.state == "failed":
        return Notice(
            503,
            f"The service {service.name} has failed",
            f"It is declared to listen on port {port}, and has ended or does not answer.",
            "Ask the agent to check its output, or restart the service.",
            log,
            LATER_S,
        )
    if waiting.for_s >= GIVE_UP_S:
        return _given_up(waiting, port, service, log)
    if waiting.kind in ("waking", "asleep"):
        return Notice(503, "Starting…", "The sandbox was asleep and is being started again.", refresh_s=SOON_S)
    what = f"the service {service.name}" if service is not None else "a server"
    return Notice(
        503,
        "Starting…",
        f"The sandbox is awake. Waiting for {what} to listen on port {port}.",
        "This page reloads automatically.",
        log,
        SOON_S,
    )


def _given_up(waiting: Waiting, port: int, service: ServiceRow | None, log: str) -> Notice:
    if waiting.kind == "waking":
        return Notice(
            503,
            "The sandbox does not start",
            f"It has been starting for {waiting.for_s:.0f} seconds.",
            "Reload this page, or check the sandbox in Outlast.",
        )
    hint = f"Start a server that listens on 127.0.0.1:{port} in the sandbox, then load this page again."
    if service is not None:
        hint = f"The service {service.name} is {service.state}. Restart it, then load this page again."
    return Notice(
        503,
        f"Nothing answers on port {port}",
        f"The sandbox is awake, but no program has listened there for {waiting.for_s:.0f} seconds.",
        hint,
        log,
    )

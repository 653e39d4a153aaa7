"""The words of the preview layer. Pure."""

from typing import Final

from outlast.kernel.previews.actions import DeclaredService
from outlast.kernel.previews.answers import Notice
from outlast.kernel.previews.wake import Waiting

SOON_S: Final = 1
LATER_S: Final = 5


def no_preview() -> Notice:
    return Notice(
        404,
        "There is no preview here",
        "A preview's address begins with a port and a sandbox: 3000-sbx-….",
        "Open it from its thread in Outlast.",
    )


def not_let_in(port: int, home: str, *, used: bool = False) -> Notice:
    """No cookie, or one that is not good any more; `used`: a ticket came that was no good."""
    why = "This link has been used already, or is more than a minute old." if used else ""
    return Notice(
        401,
        "Open this preview from Outlast",
        why or f"The preview of port {port} is for members of its project, and this browser has not been let in.",
        "Links to previews work once and for one browser.",
        link=("Open it from Outlast", home),
    )


def foreign_page() -> Notice:
    return Notice(
        403,
        "Another site asked for this",
        "Pages of other sites may not use a preview on your behalf.",
        "Open the preview itself.",
    )


def not_yet(waiting: Waiting, port: int, service: DeclaredService | None) -> Notice:
    """Why a visitor has to wait, or why waiting is of no use."""
    if waiting.kind == "refused":
        return Notice(503, "The sandbox is not available", waiting.why, waiting.hint)
    if service is not None and service.state == "failed":
        return Notice(
            503,
            f"The service {service.name} has failed",
            f"It is declared to listen on port {port}, and has ended or does not answer.",
            "Ask the agent to look at its output, or restart the service.",
            service.log,
            LATER_S,
        )
    if waiting.is_hopeless:
        return _given_up(waiting, port, service)
    if waiting.kind in ("waking", "asleep"):
        return Notice(503, "Starting…", "The sandbox was asleep and is being started again.", refresh_s=SOON_S)
    what = f"the service {service.name}" if service is not None else "a server"
    return Notice(
        503,
        "Starting…",
        f"The sandbox is awake. Waiting for {what} to listen on port {port}.",
        "This page loads again by itself.",
        service.log if service is not None else "",
        SOON_S,
    )


def _given_up(waiting: Waiting, port: int, service: DeclaredService | None) -> Notice:
    if waiting.kind == "waking":
        return Notice(
            503,
            "The sandbox does not start",
            f"It has been starting for {waiting.for_s:.0f} seconds.",
            "Load this page again, or look at the sandbox in Outlast.",
        )
    hint = f"Start a server that listens on 127.0.0.1:{port} in the sandbox, then load this page again."
    if service is not None:
        hint = f"The service {service.name} is {service.state}. Restart it, then load this page again."
    return Notice(
        503,
        f"Nothing answers on port {port}",
        f"The sandbox is awake, but for {waiting.for_s:.0f} seconds nothing has been listening there.",
        hint,
        service.log if service is not None else "",
    )


def bad_answer(port: int, why: str) -> Notice:
    return Notice(
        502,
        f"Port {port} gave no answer that can be shown",
        f"Something listens there, but {why}.",
        "Previews speak HTTP/1.1 without TLS. Look at the server's own output in the sandbox.",
    )

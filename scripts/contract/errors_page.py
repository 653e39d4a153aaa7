"""docs/reference/errors.md, from the error tree and the HTTP table."""

from collections.abc import Iterator

from outlast.base import (
    agent_errors,
    connection_errors,
    errors,
    mcp_errors,
    node_errors,
    schedule_errors,
    secret_errors,
    skill_errors,
    webhook_errors,
)
from outlast.base.errors import OutlastError
from outlast.kernel.http.problems import status_of
from scripts.contract.pages import code, heading, page, prose, table

MODULES = (
    agent_errors,
    connection_errors,
    errors,
    mcp_errors,
    node_errors,
    schedule_errors,
    secret_errors,
    skill_errors,
    webhook_errors,
)
ANSWERS = {
    "InvalidRequest": "Fix the request",
    "PermissionNeeded": "Ask for permission",
    "CreditsNeeded": "Buy credits",
    "Gone": "It was deleted, or you may not see it",
    "Conflict": "It changed meanwhile, or is in another state",
    "TryLater": "Try again later",
    "ProviderRefused": "A model provider refused the request",
    "StartRefused": "The server cannot start",
    "InternalError": "A bug in Outlast",
}


def write() -> str:
    """The page."""
    lines = heading("Errors", prose("errors"))
    for branch in OutlastError.__subclasses__():
        rows = ((code(kind.code), status_of(kind), _meaning(kind), _fix(kind)) for kind in _tree(branch))
        lines += [f"## {ANSWERS[branch.__name__]}: `{branch.__name__}`", ""]
        lines += table(("code", "status", "meaning", "what to do"), rows)
    return page(lines)


def _meaning(kind: type[OutlastError]) -> str:
    return " ".join((kind.__doc__ or "").split())


def _fix(kind: type[OutlastError]) -> str:
    return kind.default_hint or "see its `hint`, if any"


def _tree(branch: type[OutlastError]) -> Iterator[type[OutlastError]]:
    if branch.__module__ not in {module.__name__ for module in MODULES}:
        return
    yield branch
    for kind in branch.__subclasses__():
        yield from _tree(kind)

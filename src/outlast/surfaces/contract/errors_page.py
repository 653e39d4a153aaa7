"""docs/reference/errors.md, from the error tree and the HTTP table."""

from collections.abc import Iterator

from outlast.base import errors
from outlast.base.errors import OutlastError
from outlast.kernel.http.problems import status_of
from outlast.surfaces.contract.pages import code, heading, page, prose, table

ANSWERS = {
    "InvalidRequest": "Fix the request",
    "PermissionNeeded": "Ask for permission",
    "CreditsNeeded": "Buy credits",
    "Gone": "It is gone, or was never there for you",
    "Conflict": "Somebody was faster, or the thing is in another state",
    "TryLater": "Try again later",
    "ProviderRefused": "A model provider said no for good",
    "StartRefused": "The server will not start like this",
    "InternalError": "A bug in Outlast",
}


def write() -> str:
    """The page."""
    lines = heading("Errors", prose("errors"))
    for branch in OutlastError.__subclasses__():
        rows = ((code(kind.code), status_of(kind), code(kind.__name__), kind.default_hint) for kind in _tree(branch))
        lines += [f"## {ANSWERS[branch.__name__]}: `{branch.__name__}`", ""]
        lines += table(("code", "status", "class", "what to do"), rows)
    return page(lines)


def _tree(branch: type[OutlastError]) -> Iterator[type[OutlastError]]:
    if branch.__module__ != errors.__name__:
        return
    yield branch
    for kind in branch.__subclasses__():
        yield from _tree(kind)

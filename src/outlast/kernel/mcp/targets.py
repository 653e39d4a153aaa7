"""Where an MCP server is, and how it is connected to."""

from dataclasses import field

from outlast.base.records import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """Where a server is, and which secret its header carries (None: it needs none): a saved one, or for a server
    `of_code`, which an agent's code names, also one of the configuration. `login`: the id of a server on which each
    person has an account. `is_own`: it is a person's own, which gets no secrets of a project."""

    name: str
    url: str
    header: str | None = None
    secret: str | None = None
    of_code: bool = False
    login: str | None = None
    is_own: bool = False


@dataclass(frozen=True, slots=True)
class Target:
    """A server that can be connected to. `header`: the name and the text of the header with the secret; `is_own`: the
    use of it is for its user alone to see."""

    name: str
    url: str
    header: tuple[str, str] | None = field(default=None, repr=False)
    is_own: bool = False


@dataclass(slots=True)
class Failure:
    """Why the last request to a server failed, for people; empty if it did not. `status`: of its answer."""

    reason: str = ""
    status: int = 0


@dataclass(slots=True)
class Session:
    """What outlasts a connection, for the task that a call has become: the `id` by which a server knows us (empty from
    revision 2026-07-28 on), and the `version` of the protocol; empty: it is agreed again. `is_kept`: the server is not
    asked to end the session with the connection."""

    id: str = ""
    version: str = ""
    is_kept: bool = False

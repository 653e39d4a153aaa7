"""Errors of several servers and workers on one database, and of the way there."""

from outlast.base.errors import Conflict, SandboxUnavailable, StartRefused


class DatabaseNotMoved(Conflict):
    """Rows could not be copied into another database, and none is there. Fields: `table`."""

    code = "database_not_moved"


class HostUnreachable(SandboxUnavailable):
    """The machine that a sandbox lives on does not answer. Fields: `host`."""

    code = "host_unreachable"
    default_hint = "Check that machine, its container engine and the way to it; 'outlast doctor' tries each host."


class SandboxElsewhere(Conflict):
    """The sandbox lives on the machine of another server, and this one cannot reach it. Fields: `node_id`, `host`."""

    code = "sandbox_elsewhere"
    default_hint = "Ask that server, or let sandboxes run where every server reaches them."


class NodeRefused(StartRefused):
    """Another living server or worker of the database does not fit this one. Fields: `node_id`, `host`."""

    code = "node_refused"
    default_hint = "See docs/guides/several-servers.md for what servers of one database share."

"""The errors of agents that people write: of their functions, of their tools, and of who may use them."""

from outlast.base.errors import Conflict, InvalidRequest, PermissionNeeded


class StepFailed(Conflict):
    """A step of a flow or of a tool failed, or a run that it had started. Fields: `step`, `kind` (the name of the
    original error)."""

    code = "step_failed"


class FlowChanged(Conflict):
    """A function asks for another step than its journal holds: its code was changed while its run waited. Fields:
    `recorded` and `asked`, the names of both."""

    code = "flow_changed"
    default_hint = "Start the run again, or bring the old code back and continue it."


class FlowMisused(InvalidRequest):
    """A function calls its context in a way that cannot be repeated."""

    code = "flow_misused"


class GuestFailed(Conflict):
    """An agent of another library failed; the message says how."""

    code = "guest_failed"


class StateTooLarge(InvalidRequest):
    """The state of a thread would be larger than a thread can keep. Fields: `bytes`, `limit_bytes`."""

    code = "state_too_large"
    default_hint = "Keep long values in a file, and its name in the state."


class StateBusy(Conflict):
    """Other runs changed the state of the thread each time before this change could be saved."""

    code = "state_busy"
    default_hint = "Change it in fewer places at once."


class NoSandboxes(InvalidRequest):
    """A function uses the sandbox of its run on a server without sandboxes."""

    code = "no_sandboxes"


class UnknownSecret(InvalidRequest):
    """A function asks for a secret that its sandbox does not have. Fields: `secret`, `known`."""

    code = "unknown_secret"
    default_hint = "Save it on the page Connections, or name it as `secret_env` in [[sandbox.dependencies]]."


class UnknownConnection(InvalidRequest):
    """A function asks for a connection that the configuration does not have, or not for its agent. Fields:
    `connection`, `known`."""

    code = "unknown_connection"
    default_hint = "Name it in `connections` of the agent, and in a [[connections]] table with a kind."


class CommandInterrupted(Conflict):
    """The sandbox was lost during a command of a function; whether it took effect is not known."""

    code = "command_interrupted"
    default_hint = "Check before you repeat it: the next call gets a new sandbox with the same files."


class ToolChanged(Conflict):
    """The code of a tool was changed while its call waited for a decision. Fields: `tool`, `tool_version`."""

    code = "tool_changed"
    default_hint = "Look at the call in its thread and approve the changed tool there. Programs send `tool_version`."


class HandoffRefused(Conflict):
    """An agent cannot hand the conversation over now. Fields: `agent`, the one that was to go on."""

    code = "handoff_refused"


class AgentNotAllowed(PermissionNeeded):
    """The project does not allow this agent. Fields: `agent`, `project_id`."""

    code = "agent_not_allowed"
    default_hint = "Choose another agent, or ask an owner of the project to allow this one."

"""The errors of MCP servers. None contains the value of a secret."""

from outlast.base.errors import Conflict, InvalidRequest, TryLater


class McpServerFailed(TryLater):
    """The MCP server cannot be reached, did not answer in time, or answered something that cannot be read."""

    code = "mcp_server_failed"
    default_hint = "Check the address and the header of the server, and whether it runs."


class McpSecretUnusable(InvalidRequest):
    """The secret for the header of an MCP server is not saved, has no value, or is not for the server's host. Fields:
    `secret`."""

    code = "mcp_secret_unusable"
    default_hint = "Save the secret in the project, with the host of the server and a value."


class McpNameTaken(Conflict):
    """The project has an MCP server of this name. Fields: `name`."""

    code = "mcp_name_taken"
    default_hint = "Choose another name, or remove that server."


class McpToolChanged(Conflict):
    """The server changed the tool since you looked at it, or no longer has it. Fields: `tool`."""

    code = "mcp_tool_changed"
    default_hint = "List the server's tools again and look at what changed."


class McpServerInCode(Conflict):
    """The MCP server is named in the code of an agent, so it cannot be removed here. Fields: `server`."""

    code = "mcp_server_in_code"
    default_hint = "Remove it from the agent's tools, or withdraw the server's tools."


class TooManyMcpServers(Conflict):
    """The project has as many MCP servers as it may. Fields: `project_id`."""

    code = "too_many_mcp_servers"
    default_hint = "Remove one that you no longer need, or ask the operator to raise mcp.most_per_project."

"""MCP servers in the code of an agent: `from outlast import mcp`, then `Agent(tools=[mcp.http("https://…/mcp")])`."""

import re
import shlex
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from outlast.kernel.agents.context import Context
from outlast.kernel.agents.tool import Tool

if TYPE_CHECKING:  # as in `tool`
    from pydantic import BaseModel

SERVER_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,23}\Z")
_HTTP: Final = re.compile(r"https?://(?P<host>[^/:?#@\s]+)(?::\d+)?(?:[/?#]\S*)?\Z", re.IGNORECASE)
_GENERIC: Final = frozenset({"www", "mcp", "api"})
_NPM: Final = re.compile(r"(?P<name>(?:@[a-z0-9~-][\w.~-]*/)?[a-z0-9~][\w.~-]*)(?:@(?P<version>[\w.+-]+))?\Z")
_PYPI: Final = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*)(?:(?:==|@)(?P<version>[\w.+!-]+))?\Z")
_WORDS_OF_PACKAGES: Final = frozenset({"mcp", "server"})
Login = Literal["user"]
MAX_COMMAND_CHARS: Final = 1_000
HOW: Final = "Write the command of its package, such as npx -y @scope/name or uvx name, with arguments behind it."


class Package(NamedTuple):
    """A package of npm or PyPI that is an MCP server over standard input and output. `version` is empty for the newest
    one."""

    source: Literal["npm", "pypi"]
    name: str
    version: str
    args: tuple[str, ...] = ()


class Spot(NamedTuple):
    """What makes a server the same one in two agents: its name, its address, the secret that its header carries (None:
    it needs none), and `login` if each person signs in to it. Of a package: its `command` instead, the hosts that it
    may reach, and the secrets whose placeholders it gets."""

    name: str
    url: str = ""
    header: str | None = None
    secret: str | None = None
    command: str | None = None
    hosts: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    login: Login | None = None


class McpServer(Tool):
    """Stands among an agent's tools for those of a server. The agent keeps it in `mcp_servers`, not in `tools`."""

    def __init__(self, spot: Spot, allow: Iterable[str] | None) -> None:
        super().__init__(spot.name, f"The tools of the MCP server {spot.name}.", _no_model, _never)
        self.spot = spot
        self.allow = None if allow is None else frozenset(allow)

    def allows(self, tool: str) -> bool:
        """True if the agent gets this tool of the server."""
        return self.allow is None or tool in self.allow


def http(
    url: str,
    *,
    name: str | None = None,
    header: str | None = None,
    secret: str | None = None,
    login: Login | None = None,
    allow: Iterable[str] | None = None,
) -> McpServer:
    """The tools of an MCP server at an address (streamable HTTP).

        Agent("support", tools=[refund, mcp.http("https://mcp.linear.app/mcp", secret="LINEAR_API_KEY")])

    The agent gets them in every project. They are listed when a run first needs them, and kept as they are described
    then: one that changes later, or comes later, is withheld until an administrator of the server allows it.

    `name`: the first part of their names, such as `linear.create_issue`: a letter, then at most 23 of a-z, 0-9 and `-`
    (default: from the address, here `linear`). `secret`: the secret that is sent in `header` (default: `Authorization`,
    with the scheme `Bearer`), a `secret_env` of the configuration or a saved one; its hosts must include the server's.
    `login="user"`: each person connects their own account there, and a run uses that of the person who started it; it
    waits if there is none. `allow`: the names, on the server, of the tools that the agent gets (default: all).

    Raises `ValueError` for an invalid address or name, for a header without a secret, and for a secret with a login.
    """
    found = _HTTP.match(url)
    if found is None:
        raise ValueError(
            f"Invalid address of an MCP server {url!r}: write a whole one, such as https://example.com/mcp."
        )
    if header is not None and secret is None:
        raise ValueError(f"Name the secret that the header {header} of the MCP server {url} carries.")
    if login not in (None, "user") or (login is not None and secret is not None):
        raise ValueError(f"The MCP server {url} takes a secret, or login='user', by which each person signs in.")
    return McpServer(Spot(_checked(name or _name_for(found["host"]), url), url, header, secret, login=login), allow)


def stdio(
    command: str,
    *,
    name: str | None = None,
    hosts: Iterable[str] = (),
    secrets: Iterable[str] = (),
    allow: Iterable[str] | None = None,
) -> McpServer:
    """The tools of an MCP server that is a package of npm or PyPI, such as `npx -y @scope/name` or `uvx name`.

        Agent("clerk", tools=[mcp.stdio("uvx mcp-server-time")])

    The package is installed once, and its version and contents are pinned. It runs in a sandbox of its own over the
    files of the thread's workspace, without network and without the server's environment.

    `name`: as for `http` (default: from the package, here `time`). `hosts`: hosts that it may reach (`HOST`, `*.HOST`,
    with an optional `:PORT`). `secrets`: names of secrets, of which it gets placeholders as environment variables; the
    values are put into its requests to their hosts. `allow`: as for `http`.

    Raises `ValueError` for an invalid command or name.
    """
    package = parse_command(command)
    spot = Spot(
        _checked(name or _name_of_package(package.name), command),
        command=command.strip(),
        hosts=tuple(hosts),
        secrets=tuple(secrets),
    )
    return McpServer(spot, allow)


def parse_command(command: str) -> Package:
    """The package of a command. Raises `ValueError`."""
    try:
        words = shlex.split(command)
    except ValueError:
        words = []
    while len(words) > 1 and words[1] in ("-y", "--yes", "-q", "--quiet"):
        del words[1]
    program, text = (words[0], words[1]) if len(words) > 1 else ("", "")
    found = {"npx": _NPM, "uvx": _PYPI}[program].match(text) if program in ("npx", "uvx") else None
    if found is None or len(command) > MAX_COMMAND_CHARS:
        raise ValueError(f"{command[:80]!r} is not the command of an MCP server. {HOW}")
    version = found["version"] or ""
    source: Literal["npm", "pypi"] = "npm" if program == "npx" else "pypi"
    return Package(source, found["name"], "" if version == "latest" else version, tuple(words[2:]))


def _name_of_package(name: str) -> str:
    """The part of a package's name that says most: `time` of mcp-server-time."""
    scope, _, own = name.lower().lstrip("@").rpartition("/")
    named = [word for word in re.split(r"[-_.]+", own) if word not in _WORDS_OF_PACKAGES]
    return re.sub(r"[^a-z0-9-]|^[^a-z]+", "", "-".join(named) or scope or own)[:24]


def _checked(name: str, place: str) -> str:
    if not SERVER_NAME.match(name):
        raise ValueError(
            f"Invalid name {name!r} of the MCP server {place}: use name='…', a letter and at most 23 of a-z, 0-9 and -."
        )
    return name


def _name_for(host: str) -> str:
    """The part of a host that says most: `linear` of mcp.linear.app."""
    parts = host.lower().split(".")
    named = [part for part in parts[:-1] if part not in _GENERIC] or parts
    return re.sub(r"^[^a-z]+|[^a-z0-9-]", "", named[-1])[:24]


def _no_model() -> "type[BaseModel]":
    raise TypeError("An MCP server is not a tool itself.")


async def _never(_context: Context, _arguments: Mapping[str, Any]) -> str:
    raise NotImplementedError("An MCP server is not called itself.")

"""`outlast login` and `logout`: the servers that this user signed in to, with their tokens."""

import re
import sys
from typing import Annotated, Any, Final

import anyio
import typer

from outlast.base.errors import NotSignedIn
from outlast.kernel.cli.commands import Commands
from outlast.kernel.cli.options import ON_TERMINAL
from outlast.kernel.cli.servers import DEFAULT_URL, load_servers, save_servers, servers_file
from outlast.kernel.cli.terminal import err, print_result

LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")
_ADDRESS: Final = re.compile(r"(?:(https?)://)?(\[[\da-f:]+\]|[\w.-]+)(:\d+)?(/\S*)?", re.IGNORECASE)
app = Commands(ON_TERMINAL)


@app.verb("login", "outlast login https://outlast.example.com")
def login(
    address: Annotated[str | None, typer.Argument(help=f"Address of the server. Default: {DEFAULT_URL}.")] = None,
    given: Annotated[
        str | None,
        typer.Option("--token", help="API token. '-' reads it from standard input. Default: you are asked for it."),
    ] = None,
) -> None:
    """Sign in to a server, and use it for later commands.

    The address and token are saved in a file that only you can read. A server on this machine needs no token."""
    url = _url(address or _ask_address())
    wanted = sys.stdin.readline() if given == "-" else given or ""
    me, token = _sign_in(url, wanted.strip() or None)
    saved = load_servers()
    saved.current, saved.tokens[url] = url, token
    save_servers(saved)
    signed_in = f"Signed in to {url} as {me['user']['name']}. Saved in {servers_file()}."
    print_result({"url": url, "user": me["user"]}, signed_in)


@app.verb("logout", "outlast logout https://outlast.example.com")
def logout(
    address: Annotated[
        str | None, typer.Argument(help="Address of the server. Default: that of the last login.")
    ] = None,
) -> None:
    """Forget a server and its token.

    The token stays valid. Revoke it in the web app, or with: outlast tokens revoke"""
    saved = load_servers()
    url = _url(address) if address else saved.current
    if url not in saved.tokens:
        known = ", ".join(saved.tokens) or "none"
        raise typer.BadParameter(f"You are not signed in to {url}. Saved servers: {known}.")
    del saved.tokens[url]
    if saved.current == url:
        saved.current = next(iter(saved.tokens), DEFAULT_URL)
    save_servers(saved)
    print_result({"url": url, "state": "signed out"}, f"{url}: signed out")


def _ask_address() -> str:
    if not sys.stdin.isatty():
        return DEFAULT_URL
    return str(typer.prompt("Address of the server", default=DEFAULT_URL, err=True))


def _url(address: str) -> str:
    """The address with its scheme: by default https, and http for this machine."""
    found = _ADDRESS.fullmatch(address)
    if found is None:
        raise typer.BadParameter(f"{address!r} is not an address. Use https://HOST or http://HOST:PORT.")
    scheme, host, port, path = found.groups("")
    is_here = host.lower() in LOOPBACK
    scheme = scheme or ("http" if is_here else "https")
    if scheme.lower() == "http" and not is_here:
        warning = "The connection is not encrypted: others on the network can read your token."
        err.print(warning, style="yellow")
    return f"{scheme}://{host}".lower() + port + path.rstrip("/")


def _sign_in(url: str, token: str | None) -> tuple[Any, str | None]:
    """The user's account and token, or None if the server needs no token. Raises `NotSignedIn`."""
    try:
        return anyio.run(_read_me, url, token), token
    except NotSignedIn:
        if token is not None:
            raise
    if not sys.stdin.isatty():
        raise typer.BadParameter("The server needs a token. Give it with --token, or --token - to read it.")
    token = str(typer.prompt("Token (from the settings of the web app)", hide_input=True, err=True)).strip()
    return anyio.run(_read_me, url, token), token


async def _read_me(url: str, token: str | None) -> Any:
    from outlast.kernel.cli.client import Client

    async with Client(url, token) as client:
        return await client.get("/v1/me")

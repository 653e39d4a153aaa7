"""`outlast secrets …`: saved secrets, and requests that carried one."""

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from outlast.base.errors import NotFound
from outlast.kernel.cli.commands import Commands
from outlast.kernel.cli.options import LimitOption, ProjectOption, YesOption
from outlast.kernel.cli.session import call_server
from outlast.kernel.cli.terminal import confirm, print_list, print_result

if TYPE_CHECKING:
    from outlast.kernel.cli.client import Client

app = Commands()
NameArgument = Annotated[str, typer.Argument(help="Name of the secret, such as LINEAR_API_KEY.")]


@app.verb("list", "outlast secrets list")
def list_secrets(project: ProjectOption = None) -> None:
    """List the saved secrets for sandboxes of a project."""

    async def work(client: "Client") -> Any:
        return await client.items(f"/v1/projects/{await client.project_id(project)}/secrets")

    print_list(
        call_server(work),
        "name hosts value whose",
        lambda item: {
            "hosts": ", ".join(item["hosts"]),
            "value": "your own" if item["has_own_value"] else "for everybody" if item["has_value"] else "missing",
            "whose": "yourself" if item["is_own"] else "server" if item["project_id"] is None else "project",
        },
        empty="No secrets are saved. Make one: outlast secrets create NAME --host HOST",
    )


@app.verb("create", "outlast secrets create LINEAR_API_KEY --host api.linear.app")
def create_secret(
    name: NameArgument,
    host: Annotated[list[str], typer.Option(help="Host that the value may be sent to. Repeat it for more.")],
    own: Annotated[bool, typer.Option("--own", help="Each person enters their own value.")] = False,
    mine: Annotated[bool, typer.Option("--mine", help="Your own: for runs that you start, seen by you alone.")] = False,
    project: ProjectOption = None,
) -> None:
    """Save a secret for a project's sandboxes.

    The value is read from the standard input or a prompt, never from the command line."""
    value = None if own and not mine else _read_value(name)

    async def work(client: "Client") -> Any:
        path = "/v1/me/secrets" if mine else f"/v1/projects/{await client.project_id(project)}/secrets"
        return await client.create(path, name=name, hosts=host, value=value)

    made = call_server(work)
    print_result(made, f"Saved {name} for {', '.join(made['hosts'])}. Sandboxes that start from now on have it.")


@app.verb("set", "outlast secrets set LINEAR_API_KEY --own")
def set_value(
    name: NameArgument,
    own: Annotated[bool, typer.Option("--own", help="Your own value, for the runs that you start.")] = False,
    project: ProjectOption = None,
) -> None:
    """Replace the value of a secret.

    The value is read from the standard input or a prompt, never from the command line."""
    body = {"value": _read_value(name)}

    async def work(client: "Client") -> Any:
        secret_id = await _id_of(client, name, project)
        if own:
            return await client.put(f"/v1/secrets/{secret_id}/value", body)
        return await client.patch(f"/v1/secrets/{secret_id}", body)

    print_result(call_server(work), f"{name} has a new value.")


@app.verb("delete", "outlast secrets delete LINEAR_API_KEY --yes")
def delete_secret(name: NameArgument, project: ProjectOption = None, yes: YesOption = False) -> None:
    """Delete a secret with all its values."""
    confirm(f"Delete {name}?", yes=yes)

    async def work(client: "Client") -> Any:
        return await client.delete(f"/v1/secrets/{await _id_of(client, name, project)}")

    print_result(call_server(work), f"Deleted {name}.")


@app.verb("uses", "outlast secrets uses --secret GITHUB_TOKEN")
def uses(
    project: ProjectOption = None,
    sandbox: Annotated[str | None, typer.Option(help="Only requests of this sandbox (sbx_…).")] = None,
    secret: Annotated[str | None, typer.Option(help="Only requests with this secret.")] = None,
    limit: LimitOption = 20,
) -> None:
    """List requests that carried a secret, the newest first.

    Values of secrets are never shown."""

    async def work(client: "Client") -> Any:
        path = f"/v1/projects/{await client.project_id(project)}/secret-uses"
        return await client.items(path, limit, sandbox=sandbox, secret=secret)

    print_list(
        call_server(work),
        "time=at secret request answer from",
        lambda item: {
            "secret": item["secret"] or f"account on {item['mcp_server']}",
            "from": item["mcp_server"] or item["sandbox_id"],
            "request": f"{item['method']} {item['host']}{item['path']}",
            "answer": item["status"] or "no answer",
        },
        empty="No request carried a secret.",
    )


def _read_value(name: str) -> str:
    text = str(typer.prompt(name, hide_input=True, err=True)) if sys.stdin.isatty() else sys.stdin.read()
    return text.strip()


async def _id_of(client: "Client", name: str, project: str | None) -> str:
    """The project's secret of this name, else the server's."""
    found = await client.items(f"/v1/projects/{await client.project_id(project)}/secrets")
    secret_id = next((str(item["id"]) for item in found["items"] if item["name"] == name), None)
    if secret_id is None:
        raise NotFound(f"There is no secret {name}.", hint="'outlast secrets list' shows those that there are.")
    return secret_id

"""`outlast skills …`: instructions and scripts that agents use."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlencode

import typer

from outlast.kernel.cli import terminal
from outlast.kernel.cli.commands import Commands
from outlast.kernel.cli.options import ProjectOption
from outlast.kernel.cli.session import call_server, wants_json

if TYPE_CHECKING:
    from outlast.kernel.cli.client import Client

app = Commands()
NameArgument = Annotated[str, typer.Argument(metavar="SKILL", help="Name of the skill.")]


@app.verb("create", "outlast skills create ./pdf-forms", "add")
def create(
    path: Annotated[Path, typer.Argument(help="Folder with a SKILL.md, or a zip of one.", exists=True)],
    replace: Annotated[bool, typer.Option("--replace", help="Replace the project's skill of this name.")] = False,
    project: ProjectOption = None,
) -> None:
    """Add a skill to a project. Its agents use it from their next turn on."""
    content = _packed(path) if path.is_dir() else path.read_bytes()
    name = f"{path.name}.zip" if path.is_dir() else path.name

    async def work(client: "Client") -> Any:
        query = "?replace=true" if replace else ""
        return await client.upload(f"{await _skills(client, project)}{query}", name, content)

    made = call_server(work)
    terminal.print_result(made, made["name"])


@app.verb("list", "outlast skills list --project prj_01h…")
def list_skills(project: ProjectOption = None) -> None:
    """List the skills of a project and of the server."""

    async def work(client: "Client") -> Any:
        return await client.get(await _skills(client, project))

    terminal.print_list(
        call_server(work),
        "skill=name enabled from files size=size_bytes description",
        lambda item: {"from": "server" if item["of_server"] else "project"},
        empty="No skills. Add one with 'outlast skills create'.",
    )


@app.verb("show", "outlast skills show pdf-forms", "read")
def show(
    skill: NameArgument,
    path: Annotated[str | None, typer.Argument(help="A file of the skill. Default: its instructions.")] = None,
    project: ProjectOption = None,
) -> None:
    """Print the instructions of a skill and the list of its files, or one of these files."""

    async def work(client: "Client") -> Any:
        here = f"{await _skills(client, project)}/{skill}"
        return await (client.get(here) if path is None else client.get(f"{here}/file?{urlencode({'path': path})}"))

    found = call_server(work)
    if wants_json():
        terminal.print_json(found)
    elif path is not None:
        text = f"{path} is not text ({found['size_bytes']:,} bytes)." if found["text"] is None else found["text"]
        terminal.print_result(found, text.removesuffix("\n"))
    else:
        terminal.print_result(found, found["instructions"])
        for one in found["files"]:
            terminal.err.print(f"{one['path']} ({one['size_bytes']:,} bytes)", style="dim", markup=False)


@app.verb("enable", "outlast skills enable pdf-forms")
def enable(skill: NameArgument, project: ProjectOption = None) -> None:
    """Let the project's agents use a skill."""
    _switch(skill, project, enabled=True)


@app.verb("disable", "outlast skills disable pdf-forms")
def disable(skill: NameArgument, project: ProjectOption = None) -> None:
    """Turn a skill off in a project, also one of the server."""
    _switch(skill, project, enabled=False)


@app.verb("delete", "outlast skills delete pdf-forms", "remove")
def delete(skill: NameArgument, project: ProjectOption = None) -> None:
    """Delete a skill of a project."""

    async def work(client: "Client") -> Any:
        return await client.delete(f"{await _skills(client, project)}/{skill}")

    call_server(work)
    terminal.print_result({"skill": skill, "state": "deleted"}, f"{skill}: deleted")


def _switch(skill: str, project: str | None, *, enabled: bool) -> None:
    async def work(client: "Client") -> Any:
        return await client.patch(f"{await _skills(client, project)}/{skill}", {"enabled": enabled})

    terminal.print_result(call_server(work), f"{skill}: {'on' if enabled else 'off'}")


async def _skills(client: "Client", project: str | None) -> str:
    return f"/v1/projects/{await client.project_id(project)}/skills"


def _packed(folder: Path) -> bytes:
    """A zip of the folder. Links are packed as such, which the server refuses."""
    import io
    import stat
    import zipfile

    from outlast.apps.skills.rules import is_left_out

    body = io.BytesIO()
    with zipfile.ZipFile(body, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            name = path.relative_to(folder).as_posix()
            if is_left_out(name):
                continue
            if path.is_symlink():
                link = zipfile.ZipInfo(name)
                link.external_attr = (stat.S_IFLNK | 0o777) << 16
                archive.writestr(link, str(path.readlink()))
            elif path.is_file():
                archive.write(path, name)
    return body.getvalue()

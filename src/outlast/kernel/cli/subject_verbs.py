"""Verbs that every subject (screen, page, document) has."""

import uuid
from typing import TYPE_CHECKING, Annotated, Any

import typer

from outlast.kernel.cli.commands import Commands
from outlast.kernel.cli.options import YesOption
from outlast.kernel.cli.session import call_server
from outlast.kernel.cli.terminal import confirm, one_line, print_result

if TYPE_CHECKING:
    from outlast.kernel.cli.client import Client


def list_of_project(nouns: str, project: str | None, limit: int | None) -> Any:
    """The subjects of this kind ("screens") in a project (None for the default one), the oldest first."""

    async def work(client: "Client") -> Any:
        path = f"/v1/projects/{await client.project_id(project)}/{nouns}"
        return await client.items(path, limit, cursor="after")

    return call_server(work)


def create_in_project(nouns: str, project: str | None, **fields: Any) -> None:
    """Create a subject of this kind ("screens") from the fields that are not None, and print its id."""

    async def work(client: "Client") -> Any:
        return await client.create(f"/v1/projects/{await client.project_id(project)}/{nouns}", **fields)

    made = call_server(work)
    print_result(made, made["id"])


def add_subject_verbs(app: Commands, noun: str, example_id: str, goes_with_it: str, *, copies: bool) -> None:
    """Add `rename` and `delete`, and `duplicate` where the subject can be copied. `goes_with_it`: the things that are
    deleted with it."""
    subject = Annotated[str, typer.Argument(metavar=noun.upper(), help=f"Id of the {noun} ({example_id[:4]}…).")]
    path = f"/v1/{noun}s"

    def rename(subject_id: subject, title: Annotated[str, typer.Argument(help="New title.")]) -> None:
        changed = call_server(lambda client: client.patch(f"{path}/{subject_id}", {"title": title}))
        print_result(changed, one_line(f"{subject_id}: {title}"))

    def duplicate(subject_id: subject) -> None:
        key = uuid.uuid4().hex
        made = call_server(lambda client: client.post(f"{path}/{subject_id}/duplicate", idempotency_key=key))
        print_result(made, made["id"])

    def delete(subject_id: subject, yes: YesOption = False) -> None:
        confirm(f"Delete {subject_id} with {goes_with_it}? This cannot be undone.", yes=yes)
        call_server(lambda client: client.delete(f"{path}/{subject_id}"))
        print_result({"id": subject_id, "state": "deleted"}, f"{subject_id}: deleted")

    rename.__doc__ = f"Rename a {noun}."
    duplicate.__doc__ = f"Duplicate a {noun} with its conversation and files, and print the id of the copy."
    delete.__doc__ = f"Delete a {noun} with {goes_with_it}."
    app.verb("rename", f'outlast {noun}s rename {example_id} "New title"')(rename)
    if copies:
        app.verb("duplicate", f"outlast {noun}s duplicate {example_id}")(duplicate)
    app.verb("delete", f"outlast {noun}s delete {example_id} --yes")(delete)

"""`outlast document …`: documents as Markdown, what they were, and what people say about them."""

import difflib
import sys
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from outlast.apps.documents.proposals import commands as proposals
from outlast.kernel.cli.consoles import err, out, tell_bytes, tell_json, tell_rows
from outlast.kernel.cli.options import (
    DEFAULT_URL,
    JsonOption,
    TokenOption,
    UrlOption,
    all_of_project,
    made_in_project,
    text_of,
    with_server,
)

if TYPE_CHECKING:
    from outlast.kernel.cli.client import Client

app = typer.Typer(
    no_args_is_help=True, help="Documents: make, read and write as Markdown, compare, restore, comment."
)
DocumentArgument = Annotated[str, typer.Argument(help="Id of the document (doc_…).")]
MarkdownArgument = Annotated[str, typer.Argument(help="File of Markdown; '-' reads it from standard input.")]
LOOKS = {"+": "green", "-": "red", "@": "dim"}


@app.command("list")
def list_documents(
    project: Annotated[str | None, typer.Option(help="Project; without: the default one.")] = None,
    as_json: JsonOption = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """The documents of a project, oldest first."""
    items = with_server(url, token, lambda client: all_of_project(client, project, "documents"))
    if as_json:
        tell_json({"items": items, "next": None})
        return
    rows = [
        (
            item["id"],
            item["version"],
            item["words"],
            item["open_comments"],
            item["open_edits"],
            item["updated_at"][:19],
            item["title"][:60],
        )
        for item in items
    ]
    columns = ("document", "version", "words", "comments", "edits", "changed", "title")
    tell_rows(columns, rows, empty="No documents: 'outlast document new' makes one.")


@app.command()
def new(
    title: Annotated[str | None, typer.Argument(help="Its title; without: its first heading.")] = None,
    markdown: Annotated[
        str | None, typer.Option(help="File of its Markdown; '-' reads it from standard input.")
    ] = None,
    project: Annotated[str | None, typer.Option(help="Project; without: the default one.")] = None,
    as_json: JsonOption = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """Make a document and print its id. Then: outlast run start "tighten it" --document ID"""
    given = {"title": title, "markdown": None if markdown is None else text_of(markdown)}

    made = with_server(url, token, lambda client: made_in_project(client, project, "documents", given))
    tell_json(made) if as_json else out.print(made["id"])


@app.command()
def show(
    document: DocumentArgument,
    version: Annotated[int | None, typer.Option(help="As it was; without: as it is.", min=0)] = None,
    as_json: JsonOption = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """A document as Markdown; with --json everything about it, with the ids of its sections and blocks."""
    if not as_json:
        path = f"/v1/documents/{document}/markdown"
        tell_bytes(with_server(url, token, lambda client: client.content(path, version=version)))
        return
    path = f"/v1/documents/{document}" + ("" if version is None else f"/versions/{version}")
    tell_json(with_server(url, token, lambda client: client.get(path)))


@app.command("import")
def put_in(
    document: DocumentArgument,
    markdown: MarkdownArgument,
    replace: Annotated[
        bool, typer.Option("--replace", help="Instead of what is there; without: at its end.")
    ] = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """Put Markdown into a document, as one version."""
    path, body = f"/v1/documents/{document}/import", {"markdown": text_of(markdown), "replace": replace}

    async def work(client: "Client") -> Any:
        return await client.post(path, body | (await _seen(client, document) if replace else {}))

    told = with_server(url, token, work)
    out.print(f"{document}: version {told['version']}")


@app.command()
def rename(
    document: DocumentArgument,
    title: Annotated[str, typer.Argument(help="Its new title.")],
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """Give a document another title."""
    with_server(url, token, lambda client: client.patch(f"/v1/documents/{document}", {"title": title}))
    out.print(f"{document}: renamed")


@app.command()
def versions(
    document: DocumentArgument,
    before: Annotated[int | None, typer.Option(help="Only older ones than this version.")] = None,
    as_json: JsonOption = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """What a document was, newest first, and who changed it."""
    path = f"/v1/documents/{document}/versions"
    found = with_server(url, token, lambda client: client.get(path, before=before))
    if as_json:
        tell_json(found)
        return
    rows = [
        (
            item["version"],
            item["kind"],
            item["created_at"][:19],
            (item["by_name"] or "")[:20],
            item["summary"][:70],
        )
        for item in found["items"]
    ]
    tell_rows(("version", "kind", "when", "who", "what"), rows, empty="It has never been changed.")


@app.command()
def diff(
    document: DocumentArgument,
    before: Annotated[int, typer.Argument(help="Version to compare.", min=0)],
    after: Annotated[int | None, typer.Argument(help="With this one; without: as it is.", min=0)] = None,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """What differs between two versions, as Markdown, in the form that patch reads."""
    path = f"/v1/documents/{document}/markdown"

    async def work(client: "Client") -> tuple[str, str]:
        old = await client.content(path, version=before)
        return old.decode(), (await client.content(path, version=after)).decode()

    old, now = with_server(url, token, work)
    for line in _unified(old, now, before, after):
        out.print(line, style=LOOKS.get(line[:1], ""))


@app.command()
def restore(
    document: DocumentArgument,
    version: Annotated[int, typer.Argument(help="See 'document versions'.", min=0)],
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """Make it what it was, as a new version."""
    path, body = f"/v1/documents/{document}/restore", {"version": version}

    async def work(client: "Client") -> Any:
        return await client.post(path, body | await _seen(client, document))

    told = with_server(url, token, work)
    out.print(f"{document}: version {told['version']}")


@app.command()
def comments(
    document: DocumentArgument,
    status: Annotated[str, typer.Option(help="open, resolved or all.")] = "open",
    as_json: JsonOption = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """What people say about it."""
    path = f"/v1/documents/{document}/comments"
    found = with_server(url, token, lambda client: client.get(path, status=status))
    if as_json:
        tell_json(found)
        return
    rows = [
        (
            item["id"],
            item["status"],
            (item["by_name"] or "agent")[:20],
            (item["assigned_name"] or item["assigned_to"] or "")[:20],
            ("↳ " if item["parent_id"] else "") + " ".join(item["body"].split())[:70],
        )
        for item in found["items"]
    ]
    tell_rows(("comment", "status", "who", "given to", "text"), rows, empty="No comments.")


@app.command()
def comment(
    document: DocumentArgument,
    text: Annotated[str, typer.Argument(help="What to say; '-' reads it from standard input.")],
    section: Annotated[str | None, typer.Option(help="On this section (sec_…).")] = None,
    block: Annotated[str | None, typer.Option(help="On this block (blk_…).")] = None,
    answer: Annotated[str | None, typer.Option(help="Answer this comment (cmt_…).")] = None,
    agent: Annotated[bool, typer.Option("--agent", help="Give it to the agent.")] = False,
    as_json: JsonOption = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """Say something about it, and print the comment's id."""
    given = {
        "section_id": section,
        "block_id": block,
        "parent_id": answer,
        "assign": "agent" if agent else None,
    }
    body = {"body": sys.stdin.read() if text == "-" else text}
    body |= {name: value for name, value in given.items() if value is not None}
    path = f"/v1/documents/{document}/comments"
    made = with_server(url, token, lambda client: client.post(path, body, idempotency_key=uuid.uuid4().hex))
    if not as_json and made["thread_id"]:
        err.print(f"the agent works on it in {made['thread_id']}", style="dim")
    tell_json(made) if as_json else out.print(made["id"])


@app.command()
def delete(
    document: DocumentArgument,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """Remove a document with its history, comments and conversations (owners)."""
    if not yes:
        typer.confirm(f"Delete {document} with its history, comments and conversations?", abort=True)
    with_server(url, token, lambda client: client.delete(f"/v1/documents/{document}"))
    out.print(f"{document}: deleted")


async def _seen(client: "Client", document: str) -> dict[str, int]:
    """What is replaced is what the document says now, and nothing that somebody writes meanwhile."""
    newest = (await client.get(f"/v1/documents/{document}/versions", limit=1))["items"]
    return {"seen": newest[0]["version"] if newest else 0}


def _unified(old: str, now: str, before: int, after: int | None) -> Iterator[str]:
    names = f"version {before}", "now" if after is None else f"version {after}"
    return difflib.unified_diff(old.splitlines(), now.splitlines(), *names, lineterm="")


COMMANDS: Final = {"document": app, "proposal": proposals.app}

"""`outlast documents …`: documents as Markdown, their versions and comments."""

import difflib
import sys
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from outlast.kernel.cli.commands import Commands
from outlast.kernel.cli.options import LimitOption, ProjectOption, read_text
from outlast.kernel.cli.session import call_server, wants_json
from outlast.kernel.cli.subject_verbs import add_subject_verbs, create_in_project, list_of_project
from outlast.kernel.cli.terminal import err, out, print_bytes, print_json, print_list, print_result

if TYPE_CHECKING:
    from outlast.kernel.cli.client import Client

app = Commands()
DocumentArgument = Annotated[str, typer.Argument(help="Id of the document (doc_…).")]
COLOURS = {"+": "green", "-": "red", "@": "dim"}


@app.verb("list", "outlast documents list --project prj_01h…")
def list_documents(project: ProjectOption = None, limit: LimitOption = None) -> None:
    """List the documents of a project, oldest first."""
    print_list(
        list_of_project("documents", project, limit),
        "document=id version words comments=open_comments edits=open_edits changed=updated_at title",
        empty="No documents. Create one with 'outlast documents create'.",
    )


@app.verb("create", "outlast documents create --markdown plan.md", "new")
def create(
    title: Annotated[str | None, typer.Argument(help="Title (default: the first heading).")] = None,
    markdown: Annotated[str | None, typer.Option(help="File with Markdown. '-' reads standard input.")] = None,
    project: ProjectOption = None,
) -> None:
    """Create a document and print its id.

    Then let an agent work on it: outlast runs start "tighten it" --document ID"""
    text = None if markdown is None else read_text(markdown)
    create_in_project("documents", project, title=title, markdown=text)


@app.verb("show", "outlast documents show doc_01h…")
def show(
    document: DocumentArgument,
    version: Annotated[int | None, typer.Option(help="Version (default: the newest).", min=0)] = None,
) -> None:
    """Print a document as Markdown.

    With --json, the output has the ids of sections and blocks."""
    if not wants_json():
        path = f"/v1/documents/{document}/markdown"
        print_bytes(call_server(lambda client: client.content(path, version=version)))
        return
    path = f"/v1/documents/{document}" + ("" if version is None else f"/versions/{version}")
    print_json(call_server(lambda client: client.get(path)))


@app.verb("import", "outlast documents import doc_01h… plan.md --replace")
def import_markdown(
    document: DocumentArgument,
    markdown: Annotated[str, typer.Argument(help="File with Markdown. '-' reads standard input.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace the document instead of appending to it.")
    ] = False,
) -> None:
    """Import Markdown into a document as a new version."""
    body = {"markdown": read_text(markdown), "replace": replace}
    _write(document, "import", body, seen=replace)


@app.verb("versions", "outlast documents versions doc_01h…")
def versions(
    document: DocumentArgument,
    before: Annotated[int | None, typer.Option(help="Only versions older than this one.")] = None,
    limit: LimitOption = 50,
) -> None:
    """List the versions of a document, newest first."""
    print_list(
        call_server(lambda client: client.items(f"/v1/documents/{document}/versions", limit, before=before)),
        "version kind when=created_at who=by_name change=summary",
        empty="No versions: the document has not been changed.",
    )


@app.verb("diff", "outlast documents diff doc_01h… 3 5")
def diff(
    document: DocumentArgument,
    before: Annotated[int, typer.Argument(help="Version to compare.", min=0)],
    after: Annotated[int | None, typer.Argument(help="Version to compare with (default: the newest).", min=0)] = None,
) -> None:
    """Show what changed between two versions, as a unified diff of Markdown."""
    path = f"/v1/documents/{document}/markdown"

    async def work(client: "Client") -> tuple[str, str]:
        old = await client.content(path, version=before)
        return old.decode(), (await client.content(path, version=after)).decode()

    old, new = call_server(work)
    names = f"version {before}", "newest" if after is None else f"version {after}"
    lines = list(difflib.unified_diff(old.splitlines(), new.splitlines(), *names, lineterm=""))
    if wants_json():
        print_json({"diff": "\n".join(lines)})
        return
    for line in lines:
        out.print(line, style=COLOURS.get(line[:1], ""))


@app.verb("restore", "outlast documents restore doc_01h… 3")
def restore(
    document: DocumentArgument,
    version: Annotated[int, typer.Argument(help="Version; see 'outlast documents versions'.", min=0)],
) -> None:
    """Restore an earlier version of a document as a new version."""
    _write(document, "restore", {"version": version}, seen=True)


@app.verb("comments", "outlast documents comments doc_01h… --status all")
def comments(
    document: DocumentArgument,
    status: Annotated[Literal["open", "resolved", "all"], typer.Option(help="Only comments of this status.")] = "open",
    limit: LimitOption = None,
) -> None:
    """List the comments on a document."""
    path = f"/v1/documents/{document}/comments"
    print_list(
        call_server(lambda client: client.items(path, limit, cursor="after", status=status)),
        "comment=id status who assigned_to=assigned text",
        lambda item: {
            "who": item["by_name"] or "agent",
            "assigned": item["assigned_name"] or item["assigned_to"],
            "text": ("↳ " if item["parent_id"] else "") + item["body"],
        },
        empty="No comments.",
    )


@app.verb("comment", 'outlast documents comment doc_01h… "Add a source" --agent')
def comment(
    document: DocumentArgument,
    text: Annotated[str, typer.Argument(help="Text. '-' reads standard input.")],
    section: Annotated[str | None, typer.Option(help="Comment on this section (sec_…).")] = None,
    block: Annotated[str | None, typer.Option(help="Comment on this block (blk_…).")] = None,
    answer: Annotated[str | None, typer.Option(help="Reply to this comment (cmt_…).")] = None,
    agent: Annotated[bool, typer.Option("--agent", help="Assign the comment to the agent.")] = False,
) -> None:
    """Comment on a document and print the id of the comment."""
    body = {
        "body": sys.stdin.read() if text == "-" else text,
        "section_id": section,
        "block_id": block,
        "parent_id": answer,
        "assign": "agent" if agent else None,
    }
    made = call_server(lambda client: client.create(f"/v1/documents/{document}/comments", **body))
    if made["thread_id"]:
        err.print(f"The agent works on it in {made['thread_id']}.", style="dim")
    print_result(made, made["id"])


add_subject_verbs(app, "document", "doc_01h…", "its history, comments and conversations", copies=False)


def _write(document: str, action: str, body: dict[str, Any], *, seen: bool) -> None:
    """Change the document. `seen`: only if no other change is made in between."""

    async def work(client: "Client") -> Any:
        if seen:
            newest = (await client.get(f"/v1/documents/{document}/versions", limit=1))["items"]
            body["seen"] = newest[0]["version"] if newest else 0
        return await client.post(f"/v1/documents/{document}/{action}", body)

    changed = call_server(work)
    print_result(changed, f"{document}: version {changed['version']}")

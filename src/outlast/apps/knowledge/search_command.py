"""`outlast docs search`: what agents would find."""

from typing import Annotated, Any

import typer

from outlast.kernel.cli.consoles import err, one_line, out, styled, tell_json
from outlast.kernel.cli.options import DEFAULT_URL, JsonOption, TokenOption, UrlOption, with_server

LINES = 12  # of each hit


def search(
    query: Annotated[list[str], typer.Argument(help="What you want to know.")],
    package: Annotated[str | None, typer.Option("--package", "-p", help="Only this package's.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=50, help="Most hits.")] = 5,
    project: Annotated[str | None, typer.Option(help="Project; without: the default one.")] = None,
    as_json: JsonOption = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """Search the documentation as agents do: best hits first, each with its address, version and date."""
    asked = {"q": " ".join(query), "package": package, "limit": limit, "project_id": project}
    found = with_server(url, token, lambda client: client.get("/v1/knowledge/search", **asked))
    if as_json:
        tell_json(found)
        return
    for number, hit in enumerate(found["items"], 1):
        _tell_hit(number, hit)
    if not found["items"]:
        err.print("Nothing was found. What can be searched: outlast docs list", style="dim")
    if found["note"]:
        err.print(found["note"], style="dim")


def _tell_hit(number: int, hit: dict[str, Any]) -> None:
    heading = one_line(hit["heading"] or hit["package"])
    out.print(styled((f"{number}. {heading}", "bold"), "  ", (f"{hit['score']:.2f}", "dim")))
    where = [hit["package"], hit["version"], (hit["fetched_at"] or "")[:10], hit["url"] or hit["usage"]]
    out.print("   " + "  ".join(part for part in where if part), style="dim")
    lines = hit["text"].strip().splitlines()
    for line in lines[:LINES]:
        out.print(f"   {line}")
    if len(lines) > LINES:
        out.print(f"   … {len(lines) - LINES} more lines", style="dim")
    out.print()

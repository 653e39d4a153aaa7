"""What is worked on beside chats: a live page on which somebody acts, a document with a proposal and a comment, a
screen that is built, moved, themed and edited by hand. Each is read again at the end, as it was left."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import orjson

from outlast.testing.scripted_model import Call, Turn, turn
from tests.flow.screens.rig import closing, page, write

if TYPE_CHECKING:
    from tests.flow.chaos.house import Client, Played

HTML: Final = '<main id="app"><form id="new" data-action="add"><input name="title"></form><ul id="list"></ul></main>'
MARKDOWN: Final = "# One\n\nFirst words.\n\nSecond words.\n\n# Two\n\nThird words.\n"
HEADLINE: Final = {"loc": "app/page.tsx:2:9", "kind": "text", "tag": "main", "seen": "Hello", "value": "Good day"}


def answer(said: str, results: list[str]) -> Turn | None:
    """What the model says to whoever works on one of these; None: it is something else."""
    if "Action: add" in said:
        item = {"op": "append", "at": "#list", "html": "<li>Ada</li>"}
        lines = ({"type": "patches", "patches": [item]}, {"type": "summary", "text": '"add" → added one item'})
        return turn("Here.\n", *(f"{orjson.dumps(line).decode()}\n" for line in lines))
    if (block := re.search(r"Improve (blk_\w+)", said)) is not None:
        edit = {"op": "replace", "block_id": block[1], "old_text": "First words.", "new_text": "Better words."}
        proposing = Call("propose_edits", {"summary": "Better", "edits": [edit]})
        return turn("I propose. ", proposing) if not results else turn("Have a look.")
    if "Build a screen" in said:
        return turn("I build. ", write(("app/page.tsx", page()))) if not results else turn(closing())
    return None


async def play_page(client: Client) -> Played:
    """Somebody acts on a page, and the agent changes it."""
    made = await client.make("pages", {"title": "Issues", "html": HTML})
    path = f"/v1/pages/{made['id']}"
    acted = await client.sent("POST", f"{path}/actions", {"name": "add", "data": {"title": "Ada"}})
    played = await client.followed("page", acted)
    now = await client.sent("GET", path)
    actions = await client.sent("GET", f"{path}/actions")
    states = [one["state"] for one in actions["items"]]
    return replace(played, left=[now["html"], now["version"], now["state"], states])


async def play_document(client: Client) -> Played:
    """A section is edited by hand, the agent proposes, a person comments and accepts."""
    made = await client.make("documents", {"title": "Plan", "markdown": MARKDOWN})
    path = f"/v1/documents/{made['id']}"
    first, _second, third = [block["id"] for section in made["sections"] for block in section["blocks"]]
    edit = {"op": "edit_block", "block_id": third, "old": "Third words.", "markdown": "Last words."}
    await client.sent("POST", f"{path}/changes", {"changes": [edit]})
    run = {"content": f"Improve {first}, please."}
    begun = await client.sent("POST", f"/v1/threads/{made['thread_id']}/runs", run)
    played = await client.followed("document", begun)
    await client.sent("POST", f"{path}/comments", {"body": "Is that so?", "block_id": first})
    for proposal in (await client.sent("GET", f"{path}/proposals?state=all"))["items"]:
        await client.sent("POST", f"/v1/proposals/{proposal['id']}/accept", {})
    now = await client.sent("GET", path)
    texts = [block["markdown"] for section in now["sections"] for block in section["blocks"]]
    proposals = await client.sent("GET", f"{path}/proposals?state=all")
    states = [edit["state"] for one in proposals["items"] for edit in one["edits"]]
    comments = [one["body"] for one in (await client.sent("GET", f"{path}/comments"))["items"]]
    return replace(played, left=[texts, now["version"], states, comments])


async def play_screen(client: Client) -> Played:
    """A screen is built by the agent, moved, given a theme, and edited by hand."""
    made = await client.make("screens", {"template": "vite"})
    path = f"/v1/screens/{made['id']}"
    run = {"content": "Build a screen, please."}
    begun = await client.sent("POST", f"/v1/threads/{made['thread_id']}/runs", run)
    moves = {"items": [{"id": made["id"], "x": 700, "y": 900}]}
    await client.sent("PATCH", f"/v1/projects/{made['project_id']}/screens", moves)
    played = await client.followed("screen", begun)
    await client.sent("PATCH", path, {"theme": "cyberpunk"})
    await client.call("POST", f"{path}/edits", {"edits": [HEADLINE]})
    now = await client.sent("GET", path)
    source = await client.text(f"{path}/files/content?path=app/page.tsx")
    return replace(played, left=[now["title"], now["state"], now["problems"], now["theme"], now["x"], now["y"], source])


PLAYS: Final[dict[str, Callable[[Client], Awaitable[Played]]]] = {
    "page": play_page,
    "document": play_document,
    "screen": play_screen,
}

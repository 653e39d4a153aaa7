"""Comments on documents: create, list, read, change, resolve, delete, assign."""

from typing import Literal

from fastapi import Query
from starlette.responses import Response

from outlast.apps.documents.comments import actions, shapes
from outlast.kernel.http.auth import Signed, Svc
from outlast.kernel.http.parameters import Key
from outlast.kernel.http.responses import nothing, page, reply
from outlast.kernel.http.routers import noun_router
from outlast.kernel.http.shapes import Page

router = noun_router("Comments")


@router.get("/documents/{document_id}/comments", response_model=Page[shapes.CommentData])
async def list_comments(
    document_id: str,
    services: Svc,
    actor: Signed,
    status: Literal["open", "resolved", "all"] = "all",
    after: str | None = None,
    limit: int = Query(500, ge=1, le=1000),
) -> Response:
    """The document's comments with their replies, oldest first. A reply has the status of the comment it replies to."""
    return reply(page(*await actions.list_comments(services, actor, document_id, status, after, limit)))


@router.post("/documents/{document_id}/comments", status_code=201, response_model=shapes.CommentData)
async def create_comment(
    document_id: str, body: shapes.CommentRequest, services: Svc, actor: Signed, key: Key = None
) -> Response:
    """Comment or reply (editors). `@agent` in the text, or `assign`, assigns it to the agent or a member at once."""
    return reply((await actions.create_comment(services, actor, document_id, body, key=key)).comment, 201)


@router.get("/comments/{comment_id}", response_model=shapes.CommentData)
async def read_comment(comment_id: str, services: Svc, actor: Signed) -> Response:
    """One comment. If it or a reply to it names the caller, it counts as seen."""
    return reply(await actions.read_comment(services, actor, comment_id))


@router.patch("/comments/{comment_id}", response_model=shapes.CommentData)
async def change_comment(comment_id: str, body: shapes.CommentPatch, services: Svc, actor: Signed) -> Response:
    """Change the text (author) or the linked sections, resolve or reopen (editors)."""
    return reply(await actions.change_comment(services, actor, comment_id, body))


@router.delete("/comments/{comment_id}", status_code=204)
async def delete_comment(comment_id: str, services: Svc, actor: Signed) -> Response:
    """Remove a comment with its replies (author and owners)."""
    await actions.delete_comment(services, actor, comment_id)
    return nothing()


@router.post("/comments/{comment_id}/assign", response_model=shapes.AssignedAnswer)
async def assign_comment(
    comment_id: str, body: shapes.AssignRequest, services: Svc, actor: Signed, key: Key = None
) -> Response:
    """Assign a comment to a member or the agent, or remove the assignment (editors). For the agent, the server creates
    or continues the conversation, posts the message and starts a run, with the rights, credits and limits of any
    run."""
    return reply(await actions.assign_comment(services, actor, comment_id, body, key=key))

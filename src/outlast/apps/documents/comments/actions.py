"""Comments on documents: create, read, change, resolve, delete, and assign to a member or to the agent."""

from collections.abc import Sequence
from typing import Any, Final

from outlast.apps.documents import store as documents
from outlast.apps.documents.comments import shapes, store
from outlast.apps.documents.comments.comment_anchors import Content, new_anchor
from outlast.apps.documents.comments.store import Status
from outlast.apps.documents.rows import CommentRow, DocumentRow
from outlast.apps.documents.settings import DocumentSettings
from outlast.apps.documents.store import require_document
from outlast.apps.documents.tables import comments as table
from outlast.base.errors import Forbidden, InputTooLarge, MalformedInput, NotFound
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.idempotency import remember, request_hash
from outlast.kernel.limits.rules import check_count, clean, is_blank
from outlast.kernel.limits.store import check_made_rate
from outlast.kernel.lists import Listed
from outlast.kernel.mentions import store as mentions
from outlast.kernel.mentions.rules import AGENT, without_agent
from outlast.kernel.projects.permissions import require, require_editor, require_owned
from outlast.kernel.projects.rules import Right, allows
from outlast.kernel.runs.actions import start_in
from outlast.kernel.services import Services, in_read, in_write
from outlast.kernel.threads import store as threads
from outlast.kernel.threads.new_thread import demand_profile
from outlast.kernel.threads.rows import ThreadRow
from outlast.kernel.threads.tables import threads as thread_table
from outlast.kernel.threads.user_input import Draft

PROFILE: Final = "document"


async def create_comment(
    services: Services, actor: Actor, document_id: str, written: shapes.CommentRequest, *, key: str | None = None
) -> shapes.AssignedAnswer:
    """Comment on a document, or reply to a comment (editors). It is in the inbox of users whom it names; `@agent`
    or `assign` assigns it (for a reply: the top comment) to the agent or a member, as `assign_comment` does. A repeated
    `key` returns the first answer. Raises `MalformedInput`, `InputTooLarge`, `NotFound` for a place or parent comment
    that is not in the document, `RateLimited`, and the errors of starting a run; then nothing was written."""
    body = checked_body(services, written.body)
    asked = request_hash("comment", document_id, written.model_dump())

    def run(tx: Tx) -> shapes.AssignedAnswer:
        row = require_document(tx, actor, document_id, Right.EDIT)
        made = remember(tx, actor.user_id, key, asked, lambda: _create(tx, services, actor, row, body, written))
        return _shown(tx, made)

    return await services.db.write(run)


@in_read
def list_comments(
    tx: Tx, actor: Actor, document_id: str, status: Status, after: str | None, limit: int
) -> Listed[shapes.CommentData, str]:
    """A document's comments with their replies, oldest first."""
    require_document(tx, actor, document_id, Right.READ)
    return store.list_comments(tx, document_id, status, after, limit)


async def read_comment(services: Services, actor: Actor, comment_id: str) -> shapes.CommentData:
    """One comment. If it or a reply to it names the actor, it counts as seen."""

    def look(tx: Tx) -> tuple[shapes.CommentData, list[str]]:
        require_owned(tx, actor, CommentRow, table, "comment", comment_id, Right.READ)
        seen = [comment_id, *store.answers_to(tx, comment_id)]
        waits = mentions.anything_waits(tx, actor.user_id, source_ids=seen)
        return store.comment_data(tx, comment_id), seen if waits else []

    def mark(tx: Tx) -> None:
        for project_id, news in mentions.read(tx, actor.user_id, source_ids=seen):
            documents.tell_inbox(tx, project_id, [news])

    data, seen = await services.db.read(look)
    if seen:
        await services.db.write(mark)
    return data


async def change_comment(
    services: Services, actor: Actor, comment_id: str, patch: shapes.CommentPatch
) -> shapes.CommentData:
    """Change the text (author) or the linked sections, resolve or reopen (editors). Raises `Forbidden` for another
    user's text, `MalformedInput` for the status of a reply, which follows the top comment."""
    text = None if patch.body is None else checked_body(services, patch.body)
    linked = patch.linked_sections

    def run(tx: Tx) -> shapes.CommentData:
        row = _held(tx, require_owned(tx, actor, CommentRow, table, "comment", comment_id, Right.EDIT))
        if text is not None and text != row.body:
            _rewrite(tx, actor, row, text)
        if linked is not None:
            checked = _checked_links(store.content_of(tx, row.document_id), linked)
            store.update(tx, comment_id, linked_sections=list(checked))
        if text is not None or linked is not None:
            store.announce(tx, comment_id, by=actor.user_id)
        if patch.status is not None:
            _demand_top(row, "resolved or reopened")
            store.set_status(tx, comment_id, patch.status, actor.user_id)
        return store.comment_data(tx, comment_id)

    return await services.db.write(run)


@in_write
def delete_comment(tx: Tx, actor: Actor, comment_id: str) -> None:
    """Remove a comment with its replies (author and owners). A conversation about it stays."""
    row = _held(tx, require_owned(tx, actor, CommentRow, table, "comment", comment_id, Right.EDIT))
    if row.by != actor.user_id and not allows(require(tx, actor, row.project_id, Right.READ), Right.OWN):
        raise Forbidden(
            "Only the author and owners can delete a comment.", hint="Resolve it instead.", comment_id=comment_id
        )
    store.delete(tx, row, actor.user_id)


async def assign_comment(
    services: Services, actor: Actor, comment_id: str, wanted: shapes.AssignRequest, *, key: str | None = None
) -> shapes.AssignedAnswer:
    """Assign a comment to a member or to `agent`, or remove the assignment (editors). A resolved comment is reopened.

    A member (who must be able to edit) has it in the inbox until it is resolved. For the agent, the server creates or
    continues the conversation about the comment, posts `message` (default: the text of the comment) there and
    starts a run, queued behind an active one. All of it is one transaction. Raises the errors of starting a run
    (`ThreadLocked`, `CreditsNeeded`, `RateLimited`, `UnknownModel` …); then nothing was changed."""
    asked = request_hash("assign", comment_id, wanted.model_dump())

    def produce(tx: Tx, found: CommentRow) -> dict[str, Any]:
        row = _held(tx, found)
        _demand_top(row, "assigned")
        given = _give(tx, services, actor, row, wanted, row.mentions)
        store.announce(tx, comment_id, by=actor.user_id)
        if row.status == "resolved" and wanted.to is not None:
            documents.announce(tx, row.document_id, by=actor.user_id)
        return {"id": comment_id, **given}

    def run(tx: Tx) -> shapes.AssignedAnswer:
        found = require_owned(tx, actor, CommentRow, table, "comment", comment_id, Right.EDIT)
        made = remember(tx, actor.user_id, key, asked, lambda: produce(tx, found))
        return _shown(tx, made)

    return await services.db.write(run)


def _shown(tx: Tx, made: dict[str, Any]) -> shapes.AssignedAnswer:
    comment = store.comment_data(tx, made["id"])
    return shapes.AssignedAnswer(comment=comment, thread_id=made["thread_id"], run_id=made["run_id"])


def checked_body(services: Services, body: str) -> str:
    """A comment's text, cleaned. Raises `MalformedInput` for an empty one, `InputTooLarge`."""
    text = clean(body).strip()
    limit = services.settings.of(DocumentSettings).comment_chars
    if is_blank(text):
        raise MalformedInput("The comment is empty.", hint="Write at least one character.", field="body")
    if len(text) > limit:
        raise InputTooLarge(
            f"The comment has {len(text):,} characters; at most {limit:,} are accepted.",
            hint="Make it shorter, or ask the operator for a larger limit under [documents].",
            size_chars=len(text),
            limit_chars=limit,
        )
    return text


def _held(tx: Tx, row: CommentRow) -> CommentRow:
    """The current row of the comment; its document is held until the transaction ends, before everything else."""
    documents.hold(tx, row.document_id)
    return store.hold(tx, row.id)


def _create(
    tx: Tx, services: Services, actor: Actor, document: DocumentRow, body: str, written: shapes.CommentRequest
) -> dict[str, Any]:
    check_made_rate(tx, table, actor.user_id, services.settings.limits.comments_per_minute_per_user, by="by")
    check_count("mentions", len(written.mentions), shapes.MAX_NAMED)
    documents.hold(tx, document.id)
    parent = None if written.parent_id is None else _answered(tx, document.id, written.parent_id)
    named = mentions.named_in(tx, document.project_id, body, written.mentions)
    comment_id = store.add(
        tx,
        document_id=document.id,
        project_id=document.project_id,
        by=actor.user_id,
        body=body,
        parent_id=None if parent is None else parent.id,
        mentions=named.users,
        **_place(tx, document.id, written, parent),
    )
    row = store.hold(tx, comment_id)
    to = written.assign or (AGENT if named.agent else None)
    given: dict[str, Any] = {"thread_id": None, "run_id": None}
    if to is not None:
        about = row if parent is None else parent
        given = _give(tx, services, actor, about, shapes.AssignRequest(to=to, message=without_agent(body)), named.users)
        if parent is not None:
            store.announce(tx, parent.id, by=actor.user_id)
    store.announce(tx, comment_id, "comment.created", by=actor.user_id)
    if parent is None:
        documents.announce(tx, document.id, by=actor.user_id)
    people = [one for one in named.users if one != to]  # the assignee already has it as assigned
    documents.tell_inbox(tx, document.project_id, mentions.tell(tx, store.where_of(row, actor.user_id), people))
    return {"id": comment_id, **given}


def _answered(tx: Tx, document_id: str, parent_id: str) -> CommentRow:
    """The top comment of the discussion. Raises `NotFound` if it is in another document."""
    row = store.hold(tx, parent_id)
    if row.document_id != document_id:
        raise NotFound("This comment is no longer on the document.", noun="comment", id=parent_id)
    return row if row.parent_id is None else store.hold(tx, row.parent_id)


def _place(tx: Tx, document_id: str, written: shapes.CommentRequest, parent: CommentRow | None) -> dict[str, Any]:
    placed = written.section_id or written.block_id or written.quote
    if parent is not None:
        if placed:
            raise MalformedInput("A reply has the same place as the comment it replies to.", field="section_id")
        return {}
    if not placed and not written.linked_sections:
        return {}
    content = store.content_of(tx, document_id)
    anchor = new_anchor(content, written.section_id, written.block_id, written.quote)
    return {"anchor": anchor, "linked_sections": _checked_links(content, written.linked_sections)}


def _checked_links(content: Content, linked: Sequence[str]) -> tuple[str, ...]:
    check_count("linked sections", len(linked), shapes.MAX_LINKED)
    for section_id in linked:
        if section_id not in content.sections:
            raise NotFound("A linked section is no longer in this document.", noun="section", id=section_id)
    return tuple(dict.fromkeys(linked))


def _rewrite(tx: Tx, actor: Actor, row: CommentRow, body: str) -> None:
    if row.by != actor.user_id:
        raise Forbidden("Only the author can change a comment's text.", hint="Reply to it instead.", comment_id=row.id)
    named = mentions.named_anew(tx, row.project_id, row.body, body, row.mentions)
    store.update(tx, row.id, body=body, mentions=list(named.users))
    news = mentions.withdraw(tx, "comment", row.id, keep=named.users)
    news += mentions.tell(tx, store.where_of(store.hold(tx, row.id), actor.user_id), named.users)
    documents.tell_inbox(tx, row.project_id, news)


def _demand_top(row: CommentRow, what: str) -> None:
    if row.parent_id is not None:
        raise MalformedInput(
            f"A reply cannot be {what} on its own.",
            hint="Use the id of the comment that it replies to.",
            parent_id=row.parent_id,
        )


def _give(
    tx: Tx, services: Services, actor: Actor, row: CommentRow, wanted: shapes.AssignRequest, told: Sequence[str]
) -> dict[str, Any]:
    """Assign a comment; start the agent in the conversation about it. Not announced yet. `told`: users who are named
    in the comment and already notified: they are not notified again there."""
    to, thread_id, run_id = wanted.to, row.thread_id, None
    people = [] if to is None or to == AGENT else [to]
    news = mentions.withdraw(tx, "assigned", row.id, keep=people)
    if to == AGENT:
        words = (wanted.message or "", without_agent(row.body))
        draft = Draft(content=next((text for text in words if not is_blank(text)), row.body), told=told)
        thread_id = _conversation(tx, services, actor, row)
        run_id = start_in(tx, services, actor, thread_id, draft, wanted.model, "enqueue")["run_id"]
    elif to is not None:
        hint = "Mention them instead, or ask an owner for another role."
        require_editor(tx, to, row.project_id, "document", "take care of a comment", hint)
    again = {"status": "open", "resolved_by": None, "resolved_at": None} if to is not None else {}
    store.update(tx, row.id, assigned_to=to, thread_id=thread_id, **again)
    news += mentions.tell(tx, store.where_of(row, actor.user_id, "assigned"), people)
    documents.tell_inbox(tx, row.project_id, news)
    return {"thread_id": thread_id, "run_id": run_id}


def _conversation(tx: Tx, services: Services, actor: Actor, row: CommentRow) -> str:
    """The thread about the comment: the existing one, unarchived if needed, or a new one."""
    known = None if row.thread_id is None else tx.find(ThreadRow, thread_table, {"id": row.thread_id})
    if known is not None:
        if known.status == "archived":
            threads.set_status(tx, known.id, "open")
        return str(known.id)
    demand_profile(services, PROFILE)
    anchor = {"type": "comment", "id": row.id, "document_id": row.document_id}
    return threads.add_thread(tx, row.project_id, actor.user_id, profile=PROFILE, anchor=anchor)

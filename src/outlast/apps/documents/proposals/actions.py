"""Proposals of agents for documents: read them, and decide about them."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import anyio.to_thread

from outlast.apps.documents import store as documents
from outlast.apps.documents.content.tree import Tree
from outlast.apps.documents.proposals import reopened, store
from outlast.apps.documents.proposals import review as reviewing
from outlast.apps.documents.proposals.decisions import merge_of
from outlast.apps.documents.proposals.shapes import (
    DECISIONS_CHARS,
    DecidedAnswer,
    Decision,
    EditData,
    MergeAnswer,
    NamedDecision,
    ProposalData,
)
from outlast.apps.documents.proposals.store import State
from outlast.apps.documents.rows import EditRow, ProposalRow
from outlast.apps.documents.shapes import CHANGE_CHARS
from outlast.apps.documents.store import require_document
from outlast.apps.documents.tables import edits, proposals
from outlast.base.errors import InputTooLarge, MalformedInput
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.idempotency import remember, request_hash
from outlast.kernel.limits.rules import checked_markdown
from outlast.kernel.lists import Listed
from outlast.kernel.projects.permissions import require_owned, require_thread
from outlast.kernel.projects.rules import Right
from outlast.kernel.services import Services, in_read

How = Literal["decide", "possible", "all"]


@in_read
def list_document_proposals(
    tx: Tx, actor: Actor, document_id: str, state: State = "open", before: str | None = None, limit: int = 100
) -> Listed[ProposalData, str]:
    """The agents' proposals for a document, from all threads."""
    require_document(tx, actor, document_id, Right.READ)
    return store.list_proposals(tx, proposals.c.document_id == document_id, state, before, limit)


@in_read
def list_thread_proposals(
    tx: Tx, actor: Actor, thread_id: str, state: State = "all", before: str | None = None, limit: int = 100
) -> Listed[ProposalData, str]:
    """The proposals of a thread's agent."""
    require_thread(tx, actor, thread_id, Right.READ)
    return store.list_proposals(tx, proposals.c.thread_id == thread_id, state, before, limit)


@in_read
def read_proposal(tx: Tx, actor: Actor, proposal_id: str) -> ProposalData:
    """One proposal with its edits and their states."""
    require_owned(tx, actor, ProposalRow, proposals, "proposal", proposal_id, Right.READ)
    return store.proposal_data(tx, proposal_id)


@in_read
def read_merge(tx: Tx, actor: Actor, edit_id: str) -> MergeAnswer:
    """The text that accepting an edit as proposed would write now (`text`; None if there are conflicts)."""
    row = require_owned(tx, actor, EditRow, edits, "edit", edit_id, Right.READ)
    (edit,) = store.edits_of(tx, [edit_id])
    return merge_of(documents.tree(tx, row.document_id), edit)


async def decide_edit(
    services: Services, actor: Actor, decision: NamedDecision, *, key: str | None = None
) -> DecidedAnswer:
    """Accept, reject or reopen one edit (editors); an accepted edit may carry replacement text. See `decide_edits`."""
    row = await services.db.read(require_owned, actor, EditRow, edits, "edit", decision.edit_id, Right.EDIT)
    return await decide_edits(services, actor, row.proposal_id, [decision], key=key)


async def decide_edits(
    services: Services,
    actor: Actor,
    proposal_id: str,
    decisions: Sequence[NamedDecision],
    *,
    possible: bool = False,
    key: str | None = None,
) -> DecidedAnswer:
    """Decide about edits of one proposal together (editors): all or none, in one version; with `possible` the edits
    that cannot be accepted now stay open and are listed. An edit of a block that changed since is merged. No lock of
    the thread is needed.

    Decided edits are reopened all together or not at all. An accepted edit leaves the document, together with all
    others accepted in the same version; later changes stay. Rejected edits change nothing. Repeating is
    harmless.

    A repeated `key` returns the first answer. Raises `EditDecided` with the first decision, `TextChanged` with the
    hunks of every conflict, or if the text of an edit to reopen was changed since, `SectionLocked`, `NotFound`,
    `MalformedInput`, `InputTooLarge`, `DocumentFull`, `RateLimited`; then nothing was decided."""
    kinds = {one.decision for one in decisions}
    if "reopen" in kinds:
        if len(kinds) > 1:
            raise MalformedInput("Send edits to reopen in a separate request.", field="decisions")
        return await _reopen(services, actor, proposal_id, decisions, key)
    cleaned = [_cleaned(one) for one in decisions]
    size = sum(len(one.text or "") for one in cleaned)
    if size > DECISIONS_CHARS:
        raise InputTooLarge(
            f"The texts have {size:,} characters; at most {DECISIONS_CHARS:,} are accepted together.",
            hint="Decide about the edits one after the other.",
            size_chars=size,
            limit_chars=DECISIONS_CHARS,
        )
    how: How = "possible" if possible else "decide"
    asked = [one.model_dump() for one in cleaned]
    return await _decide(services, actor, proposal_id, lambda _tx: cleaned, how, asked, key)


async def _reopen(
    services: Services, actor: Actor, proposal_id: str, wanted: Sequence[NamedDecision], key: str | None
) -> DecidedAnswer:
    def reopen(tx: Tx) -> DecidedAnswer:
        return reopened.reopen(tx, proposal_id, wanted, actor.user_id, services.settings)

    asked = request_hash("reopen", proposal_id, [[one.edit_id, one.decided_at] for one in wanted])
    return await services.db.write(_decided, services, actor, proposal_id, key, asked, reopen)


async def decide_all(
    services: Services, actor: Actor, proposal_id: str, decision: Decision, *, key: str | None = None
) -> DecidedAnswer:
    """Accept or reject every open edit of a proposal (editors), as `decide_edits`; edits that cannot be
    accepted now stay open and are listed. If none is open any more, nothing happens, and the answer has the edits as
    they are."""

    def decisions(tx: Tx) -> list[NamedDecision]:
        found = store.proposal_data(tx, proposal_id).edits
        return [NamedDecision(edit_id=edit.id, decision=decision) for edit in found if edit.state == "open"]

    return await _decide(services, actor, proposal_id, decisions, "all", decision, key)


async def _decide(
    services: Services,
    actor: Actor,
    proposal_id: str,
    choose: Callable[[Tx], Sequence[NamedDecision]],
    how: How,
    asked: Any,
    key: str | None,
) -> DecidedAnswer:
    wanted = request_hash("review", proposal_id, [how, asked])

    def rehearsed(tx: Tx) -> tuple[Tree, Sequence[NamedDecision], list[EditData]]:
        row = require_owned(tx, actor, ProposalRow, proposals, "proposal", proposal_id, Right.EDIT)
        found = store.proposal_data(tx, proposal_id).edits
        return documents.tree(tx, row.document_id), choose(tx), found

    cuts = await anyio.to_thread.run_sync(reviewing.rehearse, *await services.db.read(rehearsed))

    def decide(tx: Tx) -> DecidedAnswer:
        documents.hold(tx, store.proposal_row(tx, proposal_id).document_id)
        decisions = choose(tx)
        if not decisions and how == "all":
            return DecidedAnswer(version=None, edits=store.proposal_data(tx, proposal_id).edits)
        make = reviewing.decide if how == "decide" else reviewing.decide_possible
        return make(tx, proposal_id, decisions, actor.user_id, services.settings, cuts)

    return await services.db.write(_decided, services, actor, proposal_id, key, wanted, decide)


def _decided(
    tx: Tx,
    services: Services,
    actor: Actor,
    proposal_id: str,
    key: str | None,
    asked: str,
    decide: Callable[[Tx], DecidedAnswer],
) -> DecidedAnswer:
    def produce() -> dict[str, Any]:
        store.check_decision_rate(tx, actor.user_id, services.settings.limits.decisions_per_minute_per_user)
        return decide(tx).model_dump()

    require_owned(tx, actor, ProposalRow, proposals, "proposal", proposal_id, Right.EDIT)
    return DecidedAnswer.model_validate(remember(tx, actor.user_id, key, asked, produce))


def _cleaned(decision: NamedDecision) -> NamedDecision:
    """The decision with texts that every database can store. Raises `InputTooLarge`."""
    texts = {"text": decision.text, "old": decision.old}
    kept = {name: checked_markdown(text, CHANGE_CHARS) for name, text in texts.items() if text is not None}
    return decision.model_copy(update=kept)

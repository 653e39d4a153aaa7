"""Proposals of agents for documents: read, accept, edit and accept, reject."""

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from outlast.apps.documents.proposals import actions, shapes
from outlast.apps.documents.proposals.store import State
from outlast.kernel.http.auth import Signed, Svc
from outlast.kernel.http.parameters import Key
from outlast.kernel.http.responses import page, reply
from outlast.kernel.http.routers import noun_router
from outlast.kernel.http.shapes import Page

router = noun_router("Review")
Limit = Annotated[int, Query(ge=1, le=500)]


@router.get("/documents/{document_id}/proposals", response_model=Page[shapes.ProposalData])
async def list_document_proposals(
    document_id: str, services: Svc, actor: Signed, state: State = "open", before: str | None = None, limit: Limit = 100
) -> Response:
    """The agents' proposals for the document, newest first."""
    return reply(page(*await actions.list_document_proposals(services, actor, document_id, state, before, limit)))


@router.get("/threads/{thread_id}/proposals", response_model=Page[shapes.ProposalData])
async def list_thread_proposals(
    thread_id: str, services: Svc, actor: Signed, state: State = "all", before: str | None = None, limit: Limit = 100
) -> Response:
    """The proposals of the thread's agent, newest first."""
    return reply(page(*await actions.list_thread_proposals(services, actor, thread_id, state, before, limit)))


@router.get("/proposals/{proposal_id}", response_model=shapes.ProposalData)
async def read_proposal(proposal_id: str, services: Svc, actor: Signed) -> Response:
    """One proposal with its edits and their states."""
    return reply(await actions.read_proposal(services, actor, proposal_id))


@router.post("/proposals/{proposal_id}/accept", response_model=shapes.DecidedAnswer)
async def accept_proposal(proposal_id: str, services: Svc, actor: Signed, key: Key = None) -> Response:
    """Accept all open edits in one version (editors). Edits in conflict, or in a section that another member
    has locked, stay open and are listed in `left`."""
    return reply(await actions.decide_all(services, actor, proposal_id, "accept", key=key))


@router.post("/proposals/{proposal_id}/reject", response_model=shapes.DecidedAnswer)
async def reject_proposal(proposal_id: str, services: Svc, actor: Signed, key: Key = None) -> Response:
    """Reject every open edit (editors)."""
    return reply(await actions.decide_all(services, actor, proposal_id, "reject", key=key))


@router.post("/proposals/{proposal_id}/decide", response_model=shapes.DecidedAnswer)
async def decide_edits(
    proposal_id: str, body: shapes.DecisionsRequest, services: Svc, actor: Signed, key: Key = None
) -> Response:
    """Decide about several edits at once (editors): all or none, in one version; or, with `possible`, all that can be
    accepted. Deciding again is refused (409 `edit_decided`, with the first decision). `reopen` must be the decision for
    all edits or for none."""
    made = await actions.decide_edits(services, actor, proposal_id, body.decisions, possible=body.possible, key=key)
    return reply(made)


@router.post("/edits/{edit_id}", response_model=shapes.DecidedAnswer)
async def decide_edit(
    edit_id: str, body: shapes.DecisionRequest, services: Svc, actor: Signed, key: Key = None
) -> Response:
    """Accept, edit and accept, or reject one edit (editors). An edit of a block that changed since is merged; a
    conflict is refused (409 `text_changed`) with the texts and hunks: send `old`, the text that you saw, and your
    `text`. `reopen` undoes the decision: an accepted edit leaves the document, with all others accepted in the same
    version; later changes of others stay."""
    decision = shapes.NamedDecision(edit_id=edit_id, **body.model_dump())
    return reply(await actions.decide_edit(services, actor, decision, key=key))


@router.get("/edits/{edit_id}/merge", response_model=shapes.MergeAnswer)
async def read_merge(edit_id: str, services: Svc, actor: Signed) -> Response:
    """The text that accepting the edit would write now."""
    return reply(await actions.read_merge(services, actor, edit_id))

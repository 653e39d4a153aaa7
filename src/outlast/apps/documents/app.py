"""The declaration of the documents app."""

from typing import Final

from outlast.apps.documents import section_locks, tables
from outlast.apps.documents.comments.mentions import DocumentComments
from outlast.apps.documents.comments.shapes import CommentChanged, CommentDeleted
from outlast.apps.documents.proposals import open_proposals
from outlast.apps.documents.proposals.shapes import EditsReopened, EditsResolved, EditsSuperseded, ProposalCreated
from outlast.apps.documents.shapes import DocumentChanged, DocumentDeleted, VersionCreated
from outlast.apps.documents.subject import DOCUMENT
from outlast.base.events import EventType
from outlast.kernel.apps.app import App
from outlast.kernel.mentions.ports import COMMENTS
from outlast.kernel.threads.ports import SUMMARY_AGENT

APP: Final = App(
    name="documents",
    tables=[
        tables.documents,
        tables.sections,
        tables.blocks,
        tables.document_versions,
        tables.comments,
        tables.proposals,
        tables.edits,
    ],
    prefixes={"document": "doc", "section": "sec", "block": "blk", "comment": "cmt", "proposal": "prp", "edit": "edt"},
    anchors=["section", "comment", "selection"],
    subjects=[DOCUMENT],
    uses=[SUMMARY_AGENT],  # whose summaries list the decisions on a document's edits
    implements=[COMMENTS.by(DocumentComments())],
    inbox=[open_proposals.proposals_for, section_locks.waiting],
    tools=["propose_edits", "read_document"],
    events=[
        EventType(
            "DocumentChangedEvent",
            DocumentChanged,
            "document.created",
            "document.updated",
            for_webhooks=("document.created",),
        ),
        EventType("DocumentDeletedEvent", DocumentDeleted, "document.deleted", for_webhooks=True),
        EventType("VersionCreatedEvent", VersionCreated, "version.created", for_webhooks=True),
        EventType(
            "CommentChangedEvent",
            CommentChanged,
            "comment.created",
            "comment.updated",
            for_webhooks=("comment.created",),
        ),
        EventType("CommentDeletedEvent", CommentDeleted, "comment.deleted"),
        EventType("ProposalCreatedEvent", ProposalCreated, "proposal.created", for_webhooks=True),
        EventType("EditsResolvedEvent", EditsResolved, "edit.resolved"),
        EventType("EditsReopenedEvent", EditsReopened, "edit.reopened"),
        EventType("EditsSupersededEvent", EditsSuperseded, "edit.superseded"),
    ],
    server="outlast.apps.documents.agent.agent",
    routes=[
        "outlast.apps.documents.agent_run_routes",
        "outlast.apps.documents.comments.routes",
        "outlast.apps.documents.routes",
        "outlast.apps.documents.proposals.routes",
        "outlast.apps.documents.section_routes",
    ],
)

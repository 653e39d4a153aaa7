"""`propose_edits`: changes to the document, for a person to decide. The tool itself changes nothing in the document.

The schema is one flat object for every kind of edit, which models and providers handle most reliably. Which fields
belong to which kind is checked here, and errors name the field.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

import anyio
import orjson
from pydantic import Field, model_validator

from outlast.apps.documents import store as documents
from outlast.apps.documents.agent.context import document_of_thread
from outlast.apps.documents.proposals.new_proposals import Source, propose
from outlast.apps.documents.proposals.shapes import EditOp, ProposalData
from outlast.apps.documents.proposals.validation import NewEdit, Trouble
from outlast.apps.documents.settings import DocumentSettings
from outlast.base.errors import ArgumentsInvalid, FenceLost, RunFinished
from outlast.base.ids import new_id
from outlast.db.database import Database, Tx
from outlast.kernel.agents.arguments import Arguments
from outlast.kernel.agents.context import Context
from outlast.kernel.agents.tool import Tool, ToolResult, tool
from outlast.kernel.limits.rules import clean
from outlast.kernel.runs import store as runs
from outlast.kernel.threads.parts import ProposalPart

NEEDED: Final[Mapping[str, tuple[str, ...]]] = {
    "replace": ("block_id", "old_text", "new_text"),
    "insert": ("new_text",),
    "delete": ("block_id", "old_text"),
    "move": ("block_id",),
    "insert_section": ("heading",),
}
OPTIONAL: Final[Mapping[str, tuple[str, ...]]] = {
    "insert": ("section_id", "after_id"),
    "move": ("section_id", "after_id", "old_text"),
    "insert_section": ("after_id", "level", "new_text"),
}
WAITS: Final = "People decide about each edit; nothing in the document has changed yet."
REFUSED: Final = (
    "Nothing was proposed, not even the valid edits. Fix those below and call again with all edits of this request."
)
PRESENT_CHARS: Final = 20_000  # of all refused blocks together, so that the model can fix its edits
HEADING_CHARS: Final = 1_000
TEXT_CHARS: Final = 200_000


class ProposedEdit(Arguments):
    """One edit."""

    op: EditOp = Field(
        description="replace: a block's text. insert: new blocks in a section. delete: a block. move: a block. "
        "insert_section: a new section with heading, level and text."
    )
    block_id: str | None = Field(
        None, min_length=1, max_length=60, description="replace, delete, move: the block (blk_…)."
    )
    section_id: str | None = Field(
        None, min_length=1, max_length=60, description="The section (sec_…) to insert or move into as its first block."
    )
    after_id: str | None = Field(
        None,
        max_length=60,
        description="insert, move: after this block; insert_section: after this section. null: first in section_id.",
    )
    old_text: str | None = Field(
        None, max_length=TEXT_CHARS, description="replace, delete: the block's whole text, exactly as shown."
    )
    new_text: str | None = Field(
        None, max_length=TEXT_CHARS, description="replace, insert, insert_section: the new Markdown."
    )
    heading: str | None = Field(None, max_length=HEADING_CHARS, description="insert_section: plain text, one line.")
    level: int | None = Field(None, ge=1, le=6, description="insert_section: 1 to 6.")

    @model_validator(mode="after")
    def _fits_its_kind(self) -> "ProposedEdit":
        given = [name for name, value in self if name != "op" and value is not None]
        missing = [name for name in NEEDED[self.op] if name not in given]
        if missing:
            raise ValueError(f"op {self.op} needs {', '.join(missing)}")
        allowed = (*NEEDED[self.op], *OPTIONAL.get(self.op, ()))
        foreign = [name for name in given if name not in allowed and getattr(self, name) != ""]
        if foreign:
            raise ValueError(f"op {self.op} takes no {', '.join(foreign)}")
        if self.op == "insert" and not (self.section_id or self.after_id):
            raise ValueError("op insert needs section_id, or after_id for a place after a block")
        if self.op in ("replace", "insert") and not (self.new_text or "").strip():
            raise ValueError(f"op {self.op} needs a new_text with words; to remove a block, use delete")
        if self.op == "insert_section" and not (self.heading or "").strip():
            raise ValueError("op insert_section needs a heading with words")
        return self


Summary = Annotated[
    str, Field(min_length=1, max_length=300, description="Summary of these edits, in one line for people.")
]
Edits = Annotated[list[ProposedEdit], Field(min_length=1, max_length=1_000)]


def propose_edits_tool(db: Database, settings: DocumentSettings) -> Tool:
    """`propose_edits` for the document of a run's thread. A retry finds the proposal of an earlier attempt by the
    effect's id."""
    most = settings.edits_per_proposal

    def require_few(summary: str, edits: Edits) -> None:
        if len(edits) > most:
            raise ArgumentsInvalid(
                f"The arguments of propose_edits are not valid: edits: {len(edits)} edits; at most {most} at once.",
                field="edits",
                tool="propose_edits",
            )

    @tool(repeatable=True, check=require_few)
    async def propose_edits(ctx: Context, summary: Summary, edits: Edits) -> ToolResult:
        """Propose edits to the document. A person sees each as a difference, and accepts, changes or rejects it.
        All edits of one call are taken, or none: then the answer has the current text of the blocks. Address blocks and
        sections by their ids."""
        wanted = [_new_edit(edit) for edit in edits]
        # Shielded: the proposal is recorded and shown even if the run is cancelled.
        with anyio.CancelScope(shield=True):
            made = await db.write(_propose, ctx, clean(summary), wanted)
        return _taken(made) if isinstance(made, ProposalData) else _refused(made)

    return propose_edits


def _propose(tx: Tx, ctx: Context, summary: str, edits: Sequence[NewEdit]) -> ProposalData | tuple[Trouble, ...]:
    _demand_at_work(tx, ctx)
    document_id = document_of_thread(tx, ctx.this_run.thread_id).id
    document = documents.hold(tx, document_id)  # before checking for an earlier attempt
    return propose(tx, document, Source(ctx.this_run.thread_id, ctx.this_run.id, ctx.effect_id), summary, edits)


def _demand_at_work(tx: Tx, context: Context) -> None:
    """Raise `RunFinished` if the run is being cancelled, `FenceLost` if another worker has claimed it or it has ended.
    Its row is held until the proposal is stored."""
    run = runs.hold_run(tx, context.this_run.id)
    if run.cancel_reason is not None:
        raise RunFinished("The answer is being cancelled.", run_id=run.id, status=run.status)
    if run.leg != "held" or run.attempt != context.attempt:
        raise FenceLost(f"Attempt {context.attempt} no longer works on this run.", run_id=run.id)


def _new_edit(edit: ProposedEdit) -> NewEdit:
    """The edit with texts that every database can store."""
    return NewEdit(
        edit.op,
        clean(edit.block_id or "") or None,
        clean(edit.section_id or "") or None,
        clean(edit.after_id or "") or None,
        clean(edit.old_text or ""),
        clean(edit.new_text or ""),
        None if edit.heading is None else clean(edit.heading),
        edit.level,
    )


def _taken(made: ProposalData) -> ToolResult:
    told = {
        "proposal_id": made.id,
        "edits": [{"edit_id": edit.id, "op": edit.op, "block_id": edit.block_id} for edit in made.edits],
        "note": WAITS,
    }
    part = ProposalPart(
        id=new_id("part"),
        proposal_id=made.id,
        document_id=made.document_id,
        edits=len(made.edits),
        summary=made.summary,
    )
    return ToolResult(orjson.dumps(told).decode(), parts=(part,))


def _refused(troubles: Sequence[Trouble]) -> ToolResult:
    """Each edit that cannot be proposed, with the reason and the current text of its block."""
    room = PRESENT_CHARS
    refused: list[dict[str, Any]] = []
    for trouble in troubles:
        told: dict[str, Any] = {"edit": trouble.ordinal, "reason": trouble.message}
        if trouble.block_id is not None:
            told["block_id"] = trouble.block_id
        if trouble.current is not None and len(trouble.current) <= room:
            told["present_text"] = trouble.current
            room -= len(trouble.current)
        elif trouble.current is not None:
            told["note"] = "The text is long: read its section with read_document."
        refused.append(told)
    return ToolResult(orjson.dumps({"refused": refused, "note": REFUSED}).decode(), is_error=True)

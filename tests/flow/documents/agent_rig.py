"""A server without HTTP, with one document and its real agent over a scripted model (or any other)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio

from outlast.apps.chat.summary_agent import summary_agent
from outlast.apps.documents import store
from outlast.apps.documents.agent import agent as definition
from outlast.apps.documents.content.markdown_parse import cut
from outlast.apps.documents.content.tree import Block, Tree
from outlast.apps.documents.edits import write as writing
from outlast.apps.documents.edits.write import Author
from outlast.apps.documents.proposals import store as proposals
from outlast.apps.documents.proposals.shapes import ProposalData
from outlast.apps.documents.shapes import Change
from outlast.base.ids import new_id
from outlast.db.database import Database, Tx
from outlast.kernel.agents.agent import Agent
from outlast.kernel.models.protocol import LanguageModel, ModelRequest, TextPiece
from outlast.kernel.runs.actions import start_run
from outlast.kernel.runs.shapes import StartedAnswer
from outlast.kernel.runs.sweeper import Sweeper
from outlast.kernel.runs.worker import Worker
from outlast.kernel.settings import Settings
from outlast.kernel.threads import store as threads
from outlast.kernel.threads.user_input import Draft
from outlast.testing.catalog import ScriptedCatalog
from outlast.testing.scripted_model import Call, ScriptedModel, Turn
from tests.document_changes import edit_block, insert_block, insert_section
from tests.factories import make_opening, make_project, make_services, make_user
from tests.flow.harness import Event, Stage

TEXT = """\
# Introduction

We utilize this report in order to describe the plan. It is very long (as all of our reports are), and nobody reads it.

The second paragraph has teh facts.

## Risks

There are three risks: money, time, and people who leave.

- The first item is really important.
- The second item is not.

## Outlook

In the near future we will make use of a large number of tools. Each tool is small. Some of them are free of charge.
"""


@dataclass
class DocumentAgent(Stage):
    """A `Stage` whose thread is a document's."""

    document_id: str = field(kw_only=True)
    db: Database = field(kw_only=True)
    agent: Agent = field(kw_only=True)

    async def tree(self) -> Tree:
        return await self.db.read(store.tree, self.document_id)

    async def block(self, number: int) -> Block:
        """The n-th block of the document, from 0."""
        return list((await self.tree()).blocks())[number]

    async def write(self, *changes: Change, by: str | None = None) -> int | None:
        """A person changes the document; the version that this makes."""

        def change(tx: Tx) -> int | None:
            document = store.hold(tx, self.document_id)
            author = Author("edit", by or self.owner.user_id)
            return writing.commit(tx, document, changes, author, Settings()).version

        return await self.db.write(change)

    async def rewrite(self, block: Block, text: str) -> int | None:
        return await self.write(edit_block(block.id, text, block.markdown))

    async def ask(self, text: str = "Tighten this document", **options: Any) -> StartedAnswer:
        target = options.pop("target", self.thread_id)
        return await start_run(self.services, self.owner, target, Draft(text), **options)

    async def asked(self, text: str = "Tighten this document", **options: Any) -> list[Event]:
        """Every event of a run that has ended."""
        return await self.events((await self.ask(text, **options)).run_id)

    async def proposals(self) -> list[ProposalData]:
        """Those of the document, oldest first."""

        def read(tx: Tx) -> list[ProposalData]:
            import sqlalchemy as sa

            from outlast.apps.documents.tables import proposals as rows

            mine = rows.c.document_id == self.document_id
            ids = tx.execute(sa.select(rows.c.id).where(mine).order_by(rows.c.created_at, rows.c.id)).scalars()
            return [proposals.proposal_data(tx, one) for one in ids]

        return await self.db.read(read)

    async def thread_on(self, **anchor: Any) -> str:
        """A further thread that hangs on a part of the document."""
        about = {"document_id": self.document_id, **anchor}

        def make(tx: Tx) -> str:
            return threads.add_thread(tx, self.project_id, self.owner.user_id, profile="document", anchor=about)

        return await self.db.write(make)


def replace_edit(block: Block, text: str, **more: Any) -> dict[str, Any]:
    return {"op": "replace", "block_id": block.id, "old_text": block.markdown, "new_text": text, **more}


def propose(*edits: dict[str, Any], summary: str = "Better words") -> Call:
    return Call("propose_edits", {"summary": summary, "edits": list(edits)})


def asked_with(request: ModelRequest) -> str:
    """The last message that a request's run began with."""
    own = [message for message in request.messages if message.role == "user"][-1]
    return "\n".join(piece.text for piece in own.pieces if isinstance(piece, TextPiece))


def put_document(tx: Tx, project_id: str, user_id: str, title: str, markdown: str) -> tuple[str, str]:
    """A document with its thread: (document's id, thread's id)."""
    document_id = new_id("document")
    anchor = {"type": "document", "id": document_id}
    thread_id = threads.add_thread(tx, project_id, user_id, title=title, profile="document", anchor=anchor)
    store.add(tx, document_id, project_id, user_id, thread_id=thread_id, title=title)
    changes: list[Change] = []
    after: str | None = None
    for number, part in enumerate(cut(markdown)):
        text = "\n\n".join(piece.markdown for piece in part.pieces)
        if part.level:
            changes.append(insert_section(after, part.heading, part.level, text, ref=f"s{number}"))
            after = f"s{number}"
        elif text:
            changes.append(insert_block(None, None, text))
    if changes:
        row = store.hold(tx, document_id)
        writing.commit(tx, row, changes, Author("created", user_id), Settings())
    return document_id, thread_id


@asynccontextmanager
async def document_agent(
    db: Database,
    folder: Path,
    turns: list[Turn] | ScriptedModel | LanguageModel,
    *,
    text: str = TEXT,
    title: str = "The plan",
    settings: Settings | None = None,
    working: bool = True,
    agent_db: Any = None,
    **more: Any,
) -> AsyncIterator[DocumentAgent]:
    chosen = settings or Settings()
    model: Any = ScriptedModel(turns) if isinstance(turns, list) else turns
    catalog = ScriptedCatalog(model)
    agent = definition.document_agent(make_opening(agent_db or db, folder, chosen, **more))
    services = make_services(db, folder, chosen, catalog=catalog, agents=[agent, summary_agent()])
    owner = await db.write(make_user)
    project_id = await db.write(make_project, owner)
    document_id, thread_id = await db.write(put_document, project_id, owner.user_id, title, text)
    async with anyio.create_task_group() as group:
        if working:
            group.start_soon(Worker(services.engine).run)
            group.start_soon(Sweeper(services.engine, None).run)
            group.start_soon(services.watching.run)
        with anyio.fail_after(90):
            yield DocumentAgent(
                services, model, owner, project_id, thread_id, document_id=document_id, db=db, agent=agent
            )
        group.cancel_scope.cancel()

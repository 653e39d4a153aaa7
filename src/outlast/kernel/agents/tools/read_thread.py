"""`read_thread`: the messages of the thread as they were written, for an agent that reads a summary instead of them."""

from collections.abc import Sequence
from typing import Annotated, Final, NamedTuple

import sqlalchemy as sa
from pydantic import Field

from outlast.base.clock import iso
from outlast.db.database import Database, Tx
from outlast.kernel.accounts.tables import users
from outlast.kernel.agents.context import Context
from outlast.kernel.agents.tool import Tool, tool
from outlast.kernel.compactions.prompt import messages_text, parts_text
from outlast.kernel.models.protocol import TextPiece
from outlast.kernel.runs import store
from outlast.kernel.runs.steer import pieces_read
from outlast.kernel.runs.transcript import Run
from outlast.kernel.runs.turns import step_messages
from outlast.kernel.threads.rows import MessageRow
from outlast.kernel.threads.rules import text_of
from outlast.kernel.threads.search_index import MAX_QUERY_WORDS, matches_in_thread, snippet, words_of
from outlast.kernel.threads.tables import messages

NAME: Final = "read_thread"
PAGE_CHARS: Final = 8_000
MAX_HITS: Final = 20
MAX_MESSAGES: Final = 200  # read for one page
NOTHING: Final = "There are no messages there."
NO_STEPS: Final = "There are no such steps."
NOT_FOUND: Final = "No message of this thread has all these words. Try fewer or other words."

_NAMED: Final = sa.select(messages, users.c.name.label("sender_name")).outerjoin(
    users, users.c.id == messages.c.sender_id
)


class _Line(NamedTuple):
    message: MessageRow
    sender_name: str | None


def read_thread_tool(db: Database) -> Tool:
    """The tool `read_thread`."""

    @tool(name=NAME, repeatable=True)
    async def read_thread(
        ctx: Context,
        query: Annotated[str, Field(max_length=500)] = "",
        message: Annotated[int, Field(ge=0)] = 0,
        step: Annotated[int, Field(ge=0)] = 0,
        offset: Annotated[int, Field(ge=0)] = 0,
    ) -> str:
        """Read earlier messages of this thread as they were written, where a summary is not enough.

        - `query`: lists the messages that have all these words, with their numbers.
        - `message`: reads from the message of this number on; the end of a page says how to read on.
        - `step`: reads the steps of your present work from this one on, with calls and results.
        - `offset`: skips so many characters, to read on.
        """
        if query.strip():
            return await db.read(_hits, ctx.this_run, query, message)
        if step:
            return await db.read(_steps, ctx.this_run, step, offset)
        return await db.read(_messages, ctx.this_run, message, offset)

    return read_thread


def _hits(tx: Tx, run: Run, query: str, first: int) -> str:
    wanted = words_of(query)[:MAX_QUERY_WORDS]
    positions = matches_in_thread(tx, run.project_id, run.thread_id, wanted, first, MAX_HITS) if wanted else []
    chosen = _NAMED.where(messages.c.thread_id == run.thread_id, messages.c.position.in_(positions))
    rows = tx.rows(_Line, chosen.order_by(messages.c.position))
    hits = [f"{_head(row)} {snippet(text_of(row.message.parts), wanted)}" for row in rows]
    return "\n".join(hits) if hits else NOT_FOUND


def _messages(tx: Tx, run: Run, first: int, offset: int) -> str:
    chosen = _NAMED.where(messages.c.thread_id == run.thread_id, messages.c.position >= first)
    rows = tx.rows(_Line, chosen.order_by(messages.c.position).limit(MAX_MESSAGES))
    lines = [(row.message.position, f"{_head(row)}\n{parts_text(row.message.parts, PAGE_CHARS)}\n\n") for row in rows]
    return _page("message", lines, offset) if lines else NOTHING


def _steps(tx: Tx, run: Run, first: int, offset: int) -> str:
    effects = store.whole_effects(tx, run.id)
    sent = pieces_read(tx, effects, lambda parts: [TextPiece(part["text"]) for part in parts if part["type"] == "text"])
    steps = step_messages(effects, sent, first - 1)
    lines = [(step, f"Step {step}:\n{messages_text(told, PAGE_CHARS)}\n\n") for step, told in steps]
    return _page("step", lines, offset) if lines else NO_STEPS


def _head(row: _Line) -> str:
    by = row.sender_name or ("the agent" if row.message.role == "assistant" else row.message.role)
    return f"Message {row.message.position}, {by}, {iso(row.message.created_at)}:"


def _page(noun: str, lines: Sequence[tuple[int, str]], offset: int) -> str:
    """One page of these lines, the first from `offset` on, and where the next page begins."""
    page, left = "", PAGE_CHARS
    for number, line in lines:
        text = line[offset:]
        if len(text) > left:
            return f"{page}{text[:left]}\n[Read on with {noun}={number}, offset={offset + left}]"
        page, left, offset = page + text, left - len(text), 0
    if len(lines) == MAX_MESSAGES:
        return f"{page}[Read on with {noun}={lines[-1][0] + 1}]"
    return page.rstrip() or NOTHING

"""The `summary` agent: the first run of a fork that begins with a summary of its parent. It has no tools, and no thread
is made with it: threads keep the agent of what they go on with."""

from typing import Final

from outlast.apps.chat.summary_context import SYSTEM, conversation_before, told
from outlast.kernel.agents.agent import Agent
from outlast.kernel.agents.prompt import Conversation, PromptContext
from outlast.kernel.models.protocol import ModelMessage, TextPiece

NOTHING: Final = "The thread that this one was forked from was deleted: there is nothing to sum up. Say so."
GONE: Final = ("parent_gone", "The thread to sum up was deleted meanwhile.")


def summary_agent() -> Agent:
    """The agent `summary`."""
    return Agent("summary", instructions=SYSTEM, context=_parent_conversation, listed=False)


def _parent_conversation(context: PromptContext) -> Conversation:
    """One message with what was said in the thread that this one was forked from."""
    conversation = conversation_before(context.tx, context.run)
    if conversation is None:
        return Conversation([ModelMessage("user", (TextPiece(NOTHING),))], (GONE,))
    asked = "\n".join(part["text"] for part in context.own_parts() if part["type"] == "text")
    text = told(conversation, asked, context.token_budget)
    return Conversation([ModelMessage("user", (TextPiece(text),))])

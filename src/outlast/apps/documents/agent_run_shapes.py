"""Start and wait, with the names of its first users: camelCase."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from outlast.apps.documents.agent_run import DEFAULT_WAIT_S, LONGEST_WAIT_S
from outlast.apps.documents.proposals.shapes import EditOp
from outlast.kernel.runs.shapes import PendingApproval, PendingQuestion
from outlast.kernel.threads.parts import ToolStatus


class Camel(BaseModel):
    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True, str_max_length=2_000_000)


class AgentContext(Camel):
    """Where the agent works. Only `threadId` counts; the server builds the rest itself."""

    model_config = ConfigDict(defer_build=True, extra="ignore")

    thread_id: str = Field(alias="threadId", max_length=60)


class AgentRunRequest(Camel):
    """A message to an agent whose result you wait for."""

    context: AgentContext
    user_message: str = Field(alias="userMessage")
    model: str | None = None
    timeout_s: float = Field(DEFAULT_WAIT_S, alias="timeoutS", gt=0, le=LONGEST_WAIT_S, allow_inf_nan=False)


class AgentEdit(Camel):
    edit_id: str = Field(alias="editId")
    op: EditOp
    block_id: str | None = Field(alias="blockId")
    section_id: str | None = Field(alias="sectionId")
    after_id: str | None = Field(alias="afterId")
    heading: str | None
    level: int | None
    old_text: str = Field(alias="oldText")
    new_text: str = Field(alias="newText")


class AgentCall(Camel):
    """One tool call of the agent."""

    id: str
    tool: str
    arguments: Any
    status: ToolStatus
    result: str | None


class AgentRunAnswer(Camel):
    """What came of the run: its last message, proposed edits and tool calls."""

    message: str
    proposed_edits: list[AgentEdit] = Field(alias="proposedEdits")
    tool_calls: list[AgentCall] = Field(alias="toolCalls")
    proposal_id: str | None = Field(alias="proposalId")
    thread_id: str = Field(alias="threadId")
    run_id: str = Field(alias="runId")
    message_id: str | None = Field(alias="messageId")


class AgentRunOpen(Camel):
    """The run has not ended: it waits for a person, or works on after the time was over."""

    pending: Annotated[PendingApproval | PendingQuestion, Field(discriminator="kind")] | None
    status: Literal["queued", "running", "awaiting_approval", "paused"]
    thread_id: str = Field(alias="threadId")
    run_id: str = Field(alias="runId")

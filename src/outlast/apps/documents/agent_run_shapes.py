"""Shapes of start and wait, with the camelCase names of its first users."""

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from outlast.apps.documents.proposals.shapes import EditOp
from outlast.kernel.runs.shapes import PendingApproval, PendingQuestion
from outlast.kernel.threads.parts import ToolStatus

DEFAULT_WAIT_S: Final = 600.0
LONGEST_WAIT_S: Final = 3600.0


class Camel(BaseModel):
    model_config = ConfigDict(
        defer_build=True,
        extra="forbid",
        frozen=True,
        str_max_length=2_000_000,
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
    )


class AgentContext(Camel):
    """The place where the agent works. Only `threadId` counts; the server builds the rest itself."""

    model_config = ConfigDict(defer_build=True, extra="ignore")

    thread_id: str = Field(max_length=60)


class AgentRunRequest(Camel):
    """A message to an agent whose result you wait for."""

    context: AgentContext
    user_message: str
    model: str | None = None
    timeout_s: float = Field(DEFAULT_WAIT_S, gt=0, le=LONGEST_WAIT_S, allow_inf_nan=False)


class AgentEdit(Camel):
    edit_id: str
    op: EditOp
    block_id: str | None
    section_id: str | None
    after_id: str | None
    heading: str | None
    level: int | None
    old_text: str
    new_text: str


class AgentCall(Camel):
    """One tool call of the agent."""

    id: str
    tool: str
    arguments: Any
    status: ToolStatus
    result: str | None


class AgentRunAnswer(Camel):
    """The result of the run: its last message, proposed edits and tool calls."""

    message: str
    proposed_edits: list[AgentEdit]
    tool_calls: list[AgentCall]
    proposal_id: str | None
    thread_id: str
    run_id: str
    message_id: str | None


class AgentRunOpen(Camel):
    """The run has not ended: it waits for a person, or still works after the timeout."""

    pending: Annotated[PendingApproval | PendingQuestion, Field(discriminator="kind")] | None
    status: Literal["queued", "running", "awaiting_approval", "paused"]
    thread_id: str
    run_id: str

"""The capability that makes an agent of pydantic-ai durable: its turns, calls and waits are units of the run."""

import json
from collections.abc import AsyncIterable, Awaitable, Callable, Mapping
from contextvars import ContextVar
from datetime import datetime, timedelta
from typing import Any, ClassVar

from pydantic import JsonValue
from pydantic_ai.agent import EventStreamHandler
from pydantic_ai.durable_exec import (
    JSON_CODEC,
    BaseDurabilityCapability,
    DurabilityEngineSpec,
    DurableOperationId,
    ExternalEventError,
    ExternalEventWaiter,
    JournalCallableOperationBackend,
    ModelRequestId,
    RoleBasedOperationConfig,
    ToolsetCallToolId,
    ToolsetValidateToolArgumentsId,
    external_event_scope,
    record_durable_unit,
    replay_scope,
)
from pydantic_ai.exceptions import ModelAPIError
from pydantic_ai.messages import ModelResponse, ToolCallPart, ToolReturn
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.run import AgentRunResult
from pydantic_ai.tools import (
    AgentDepsT,
    DeferredToolRequests,
    DeferredToolResults,
    RunContext,
    ToolApproved,
    ToolDefinition,
    ToolDenied,
)
from pydantic_core import to_json

from outlast.db.database import Tx
from outlast.kernel.agents.context import Context
from outlast.kernel.agents.guests.pydantic_ai.conversions import (
    deltas_of,
    end_of,
    error_data,
    error_from,
    result_of,
    results_in,
)
from outlast.kernel.models.providers.pydantic_ai_stream import EventReader
from outlast.kernel.models.turn_calls import parse_arguments
from outlast.kernel.runs.guest_journal import GuestJournal, MadeTurn, Show, UnitFailed
from outlast.kernel.streams.log_store import NamedEvent

EDITED = "[A person changed the arguments before approving: {arguments}]"
OF_CODE = "The agent's code wants an approval for this tool."
current_journal: ContextVar[GuestJournal | None] = ContextVar("outlast_guest_journal", default=None)
"""The journal of the run that works, outside of its units."""
_shown: ContextVar[Callable[[Any], Awaitable[None]] | None] = ContextVar("outlast_guest_show", default=None)


class OutlastDurability(BaseDurabilityCapability[AgentDepsT]):
    """Make an agent of pydantic-ai an agent of Outlast:

        agent = Agent("openai:gpt-5.2", name="support", capabilities=[OutlastDurability()])

    A server that loads the module offers the agent to people and programs. Each turn of its model and each call of a
    tool is recorded once; a run that was interrupted, or waited for a person, calls the agent again from its top and
    gets what is recorded. Outside of a server, the agent works as without the capability.

    `title`, `description`, `icon` and `listed` are those of `outlast.Agent`. `deps` makes the dependencies of a run
    from its `Context`, each time the agent is called; it needs to give the same each time. `models`,
    `event_stream_handler` and `name` are those of every durable engine of pydantic-ai.
    """

    engine_spec: ClassVar[DurabilityEngineSpec] = DurabilityEngineSpec(
        engine_name="Outlast",
        durable_unit_noun="effect",
        durable_container_noun="run",
        codec=JSON_CODEC,
        wrapped_toolset_kinds=frozenset({"function", "mcp", "dynamic"}),
        toolset_lifecycles={"function": "enter-always", "mcp": "enter-in-durable-unit", "dynamic": "enter-never"},
    )

    def __init__(
        self,
        *,
        title: str = "",
        description: str = "",
        icon: str = "",
        listed: bool = True,
        deps: Callable[[Context], AgentDepsT] | None = None,
        models: Mapping[str, Model] | None = None,
        event_stream_handler: EventStreamHandler[AgentDepsT] | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(models=models, event_stream_handler=event_stream_handler, name=name)
        self.title, self.description, self.icon, self.listed, self.deps = title, description, icon, listed, deps

    @property
    def in_durable_context(self) -> bool:
        return current_journal.get() is not None

    def get_default_run_id(self) -> str | None:
        journal = current_journal.get()
        return None if journal is None else f"{journal.context.run.id}:{journal.count('run')}"

    def get_default_conversation_id(self, run_id: str) -> str | None:
        journal = current_journal.get()
        return None if journal is None else journal.context.run.thread_id

    async def get_run_start_time(self, run_id: str) -> datetime | None:
        journal = current_journal.get()
        return None if journal is None else journal.context.run.started_at

    def get_durable_operation_backend(self) -> "_Backend":
        return _Backend(agent_name=self.name, default_model_id=self.default_model_id, config=_NO_CONFIG)

    @property
    def has_wrap_run_event_stream(self) -> bool:
        model = None if self.agent is None else self.agent.model
        return super().has_wrap_run_event_stream or (self.in_durable_context and _streams(model))

    def _model_stream_event_handler(self) -> EventStreamHandler[AgentDepsT] | None:
        show, theirs = _shown.get(), super()._model_stream_event_handler()
        if show is None:
            return theirs

        async def handle(ctx: RunContext[AgentDepsT], stream: AsyncIterable[Any]) -> None:
            async def shown() -> AsyncIterable[Any]:
                async for event in stream:
                    await show(event)
                    yield event

            if theirs is not None:
                await theirs(ctx, shown())
            else:
                async for _ in shown():
                    pass

        return handle

    async def wrap_run(
        self, ctx: RunContext[AgentDepsT], *, handler: Callable[[], Awaitable[AgentRunResult[Any]]]
    ) -> AgentRunResult[Any]:
        journal = current_journal.get()
        if journal is None:
            return await super().wrap_run(ctx, handler=handler)
        with external_event_scope(_Waiter(journal)), replay_scope():
            return await super().wrap_run(ctx, handler=handler)

    async def wrap_tool_validate(
        self,
        ctx: RunContext[AgentDepsT],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: str | dict[str, Any],
        handler: Callable[[str | dict[str, Any]], Awaitable[dict[str, Any]]],
    ) -> dict[str, Any]:
        journal = current_journal.get()
        approved = None if journal is None else journal.arguments_of(call.tool_call_id)
        given = parse_arguments(args) if isinstance(args, str) else args
        return await handler(args if approved is None or approved == given else approved)

    async def wrap_tool_execute(
        self,
        ctx: RunContext[AgentDepsT],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: dict[str, Any],
        handler: Callable[[dict[str, Any]], Awaitable[Any]],
    ) -> Any:
        journal = current_journal.get()
        refused = None if journal is None else await journal.admit(call.tool_call_id, call.tool_name, args)
        if refused is not None:
            return refused
        result = await handler(args)
        approved = None if journal is None else journal.arguments_of(call.tool_call_id)
        if approved is None or approved == parse_arguments(call.args_as_json_str()) or isinstance(result, ToolReturn):
            return result
        text = result if isinstance(result, str) else to_json(result).decode()
        return f"{EDITED.format(arguments=json.dumps(approved))}\n{text}"

    async def handle_deferred_tool_calls(
        self, ctx: RunContext[AgentDepsT], *, requests: DeferredToolRequests
    ) -> DeferredToolResults | None:
        journal = current_journal.get()
        calls = [call for call in requests.approvals if journal is not None and journal.call_of(call.tool_call_id)]
        if journal is None or not calls:
            return None
        for call in calls:
            await journal.ask_first(call.tool_call_id, OF_CODE)
        results = DeferredToolResults()
        for call in calls:
            refused = await journal.admit(call.tool_call_id, call.tool_name, call.args_as_dict())
            results.approvals[call.tool_call_id] = ToolApproved() if refused is None else ToolDenied(refused)
        return results


class _Backend(JournalCallableOperationBackend[None]):
    """Runs each operation as a unit of the run. What an operation is about is read from the inputs of its cache key."""

    async def execute(
        self,
        *,
        operation_id: DurableOperationId,
        name: str,
        body: Callable[[], Awaitable[object]],
        cache_key: tuple[object, ...],
        config: None,
    ) -> object:
        journal = current_journal.get()
        if journal is None:
            return await body()
        ran: list[bool] = []

        async def work() -> Any:
            ran.append(True)
            token = current_journal.set(None)  # what a unit does is part of it
            try:
                return await body()
            finally:
                current_journal.reset(token)

        try:
            if isinstance(operation_id, ModelRequestId):
                return await _turn(journal, name, work, cache_key)
            if isinstance(operation_id, (ToolsetCallToolId, ToolsetValidateToolArgumentsId)):
                is_call = isinstance(operation_id, ToolsetCallToolId)
                return await _call(
                    journal, name, work, _find(cache_key, RunContext).tool_call_id or "", is_call=is_call
                )
            return await journal.unit(name, work)
        finally:
            record_durable_unit(executed=bool(ran))


_NO_CONFIG: RoleBasedOperationConfig[None] = RoleBasedOperationConfig(
    model=None, event=None, capability=None, tool=None
)


async def _turn(
    journal: GuestJournal, name: str, work: Callable[[], Awaitable[Any]], inputs: tuple[object, ...]
) -> Any:
    parameters, messages = _find(inputs, ModelRequestParameters), _find(inputs, list)

    async def make(show: Show) -> MadeTurn:
        reader, seen = EventReader(), list[bool]()

        async def show_event(event: Any) -> None:
            seen.append(True)
            await show(reader.read(event))

        token = _shown.set(show_event)
        try:
            payload = await work()
        except ModelAPIError as error:
            raise UnitFailed(error_data(error)) from error
        finally:
            _shown.reset(token)
        response: ModelResponse = JSON_CODEC.load(ModelResponse, payload)
        await show(reader.rest(response.parts) if seen else deltas_of(response))
        return MadeTurn(
            payload,
            end_of(response),
            [call.tool_call_id for call in response.tool_calls],
            {tool.name: OF_CODE for tool in parameters.function_tools if tool.kind == "unapproved"},
            frozenset(tool.name for tool in parameters.output_tools),
        )

    try:
        return await journal.turn(name, make, results_in(messages[-1:]))
    except UnitFailed as failed:
        raise error_from(failed.data) from failed


async def _call(
    journal: GuestJournal, name: str, work: Callable[[], Awaitable[Any]], call_id: str, *, is_call: bool
) -> Any:
    def close(payload: Any, tx: Tx, events: list[NamedEvent]) -> None:
        result = result_of(payload) if is_call else None
        if result is not None:
            journal.close({call_id: result}, tx, events)

    return await journal.unit(f"{name} {call_id}", work, close)


class _Waiter(ExternalEventWaiter):
    """A wait is a question to people. Its token is the question's id, so programs answer it by the API."""

    def __init__(self, journal: GuestJournal) -> None:
        self._journal = journal

    async def wait(
        self, name: str, *, ask: Callable[[str], Awaitable[JsonValue]], timeout: timedelta | None
    ) -> JsonValue:
        if timeout is not None:
            raise ExternalEventError("A wait in Outlast has no timeout: it lasts until the question is answered.")

        async def deliver(token: str) -> JsonValue:
            outer = current_journal.set(None)
            try:
                return await ask(token)
            finally:
                current_journal.reset(outer)

        answer: JsonValue = await self._journal.ask_outside(name, deliver)
        try:
            return json.loads(answer) if isinstance(answer, str) else answer
        except ValueError:
            return answer


def _find(inputs: tuple[object, ...], kind: type[Any]) -> Any:
    return next(one for one in inputs if isinstance(one, kind))


def _streams(model: Any) -> bool:
    """Whether this model can stream. A text names a model that can."""
    while (inner := getattr(model, "wrapped", None)) is not None:
        model = inner
    if not isinstance(model, Model):
        return model is not None
    return (
        type(model).request_stream is not Model.request_stream and getattr(model, "stream_function", True) is not None
    )

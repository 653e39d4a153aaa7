"""Decisions on approvals and answers to questions: the first one counts, and the run continues."""

from collections.abc import Callable, Mapping
from typing import Any, Literal

import anyio.to_thread
import orjson

from outlast.base.agent_errors import ToolChanged
from outlast.base.clock import iso
from outlast.base.errors import (
    ApprovalDecided,
    ArgumentsInvalid,
    MalformedInput,
    NotFound,
    OutlastError,
    PolicyDenied,
    RunFinished,
    UnknownProfile,
)
from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.agents.tool import Tool
from outlast.kernel.limits.rules import check_bytes
from outlast.kernel.models.turn_calls import parse_arguments
from outlast.kernel.projects.permissions import require_run
from outlast.kernel.projects.rules import Right
from outlast.kernel.runs import account_questions, journal_store, policy, store
from outlast.kernel.runs import parked as parking
from outlast.kernel.runs.decision_texts import answer_text, denial_text, resolution_events
from outlast.kernel.runs.function_questions import QUESTION_ID, value_of
from outlast.kernel.runs.inbox import tell_settled
from outlast.kernel.runs.permissions import require_steering
from outlast.kernel.runs.rows import ApprovalRow
from outlast.kernel.runs.rules import ENDED
from outlast.kernel.runs.shapes import DecisionAnswer, ToolChangeAnswer
from outlast.kernel.runs.store import ApprovalOfCall
from outlast.kernel.runs.tables import approvals, grants
from outlast.kernel.runs.transcript import Run
from outlast.kernel.services import Services

Decision = Literal["approve", "deny"]


async def decide_approval(
    services: Services,
    actor: Actor,
    approval_id: str,
    decision: Decision,
    *,
    reason: str = "",
    arguments: Mapping[str, Any] | str | None = None,
    remember: Literal["thread"] | None = None,
    tool_version: str | None = None,
) -> DecisionAnswer:
    """Approve (optionally with edited arguments, or for the whole thread) or deny with a reason. Raises
    `ApprovalDecided` with the first decision, `RunFinished`, `ArgumentsInvalid`, `PolicyDenied` for edited arguments
    that the policy denies, and `ToolChanged` to approve a call whose tool now has another version than `tool_version`
    and than the one that asked."""
    check_bytes("The reason", len(reason.encode()), services.settings.limits.message_bytes)
    edited = _parse_edited(arguments)
    checked = None
    if decision == "approve" and edited is not None:
        checked = await _check_edited(services, approval_id, edited)

    def run(tx: Tx) -> DecisionAnswer:
        row, held = _open_item(tx, actor, approval_id, "approval")
        if isinstance(checked, OutlastError):  # not earlier: the error would reveal the call to a stranger
            raise checked
        if decision == "approve":
            _require_same_tool(tx, services, row.approval, held, tool_version)
        text = row.approval.arguments if checked is None else checked
        body = {"reason": reason, "remember": remember, "arguments": text if text != row.approval.arguments else None}
        status = "approved" if decision == "approve" else "denied"
        if decision == "approve":
            store.update_effect(tx, row.approval.effect_id, status="allowed", arguments=text)
            if remember == "thread":
                _grant(tx, row, text, actor)
        else:
            result = {"content": denial_text(reason), "is_error": True}
            store.update_effect(tx, row.approval.effect_id, status="denied", ended_at=tx.now, result=result)
        return _resolve(tx, services, actor, row, held, status, body)

    return await services.db.write(run)


async def answer_question(
    services: Services, actor: Actor, question_id: str, answers: Mapping[str, str | list[str]]
) -> DecisionAnswer:
    """Answer every question asked. Raises `ApprovalDecided` with the first answers, `RunFinished`, `MalformedInput`
    naming the question that is missing or unknown."""

    def run(tx: Tx) -> DecisionAnswer:
        row, held = _open_item(tx, actor, question_id, "question")
        asked = (parse_arguments(row.approval.arguments) or {}).get("questions", [])
        _check_answers(services, asked, answers)
        return _answer(tx, services, actor, row, held, answers)

    return await services.db.write(run)


async def answer_connected(services: Services, question_id: str, is_connected: Callable[[Tx, str, str], bool]) -> None:
    """Answer a question for an account, if its user has connected it. Repeating is harmless. Raises `NotFound`."""

    def run(tx: Tx) -> None:
        asked = store.approval_of(tx, question_id).approval
        account = account_questions.account_of(asked)
        if account is None or not is_connected(tx, account.user_id, account.server_id):
            return
        held = store.hold_run(tx, asked.run_id)
        row = store.approval_of(tx, question_id)
        if row.approval.status == "open" and held.status not in ENDED:
            user = Actor(account.user_id, "", "session")
            answers = {QUESTION_ID: account_questions.CONNECTED}
            _answer(tx, services, user, row, held, answers)

    await services.db.write(run)


async def read_decision(services: Services, actor: Actor, approval_id: str) -> DecisionAnswer:
    """An approval or question as it is now ("open" until decided), with the change of its tool since it asked."""

    def read(tx: Tx) -> tuple[ApprovalRow, Tool | None]:
        asked = store.approval_of(tx, approval_id).approval
        require_run(tx, actor, asked.run_id, Right.READ)
        return asked, _changed_tool(tx, services, asked, store.run_of(tx, asked.run_id))

    asked, tool = await services.db.read(read)
    answer = _to_answer(asked)
    if asked.status != "open" or tool is None:
        return answer
    problem = await anyio.to_thread.run_sync(_why_refused, tool, asked.arguments)
    return answer.model_copy(update={"tool_change": ToolChangeAnswer(tool_version=str(tool.version), problem=problem)})


def _open_item(tx: Tx, actor: Actor, item_id: str, kind: str) -> tuple[ApprovalOfCall, Run]:
    """What is to be decided, and its run, held."""
    row = store.approval_of(tx, item_id)
    run = require_steering(tx, actor, row.approval.run_id)
    held = store.hold_run(tx, run.id)  # a worker that parks the run, and a second decision, wait for this lock
    if tx.shares_rows:
        row = store.approval_of(tx, item_id)  # again: it may have been decided before the run's row was locked
    if row.approval.kind != kind:
        raise NotFound(f"This {kind} does not exist.", id=item_id)
    if row.approval.status in ("approved", "denied", "answered"):
        first = _to_answer(row.approval)
        raise ApprovalDecided(
            f"This was already decided: {first.decision}.",
            id=item_id,
            first={"decision": first.decision, "reason": first.reason, "by": first.by, "decided_at": first.decided_at},
        )
    if row.approval.status == "cancelled" or held.status in ENDED:
        raise RunFinished(
            "This run has ended, so there is nothing left to decide.", run_id=row.approval.run_id, status=held.status
        )
    return row, held


def _changed_tool(tx: Tx, services: Services, asked: ApprovalRow, run: Run) -> Tool | None:
    """The tool of the call as it is now, if it was changed since it asked."""
    agent = services.engine.agents.get(run.profile)
    tool = (
        None if agent is None else agent.tool(asked.tool) or services.engine.connected(tx, run, agent).get(asked.tool)
    )
    if tool is None or asked.tool_version is None or tool.version in (None, asked.tool_version):
        return None
    return tool


def _require_same_tool(tx: Tx, services: Services, asked: ApprovalRow, run: Run, known: str | None) -> None:
    tool = _changed_tool(tx, services, asked, run)
    if tool is not None and tool.version != known:
        raise ToolChanged(
            f"The tool {asked.tool} was changed since it asked.", tool=asked.tool, tool_version=tool.version
        )


def _why_refused(tool: Tool, arguments: str) -> str | None:
    """Why the tool would refuse these arguments, or None."""
    try:
        tool.check(parse_arguments(arguments) or {})
    except OutlastError as error:
        return error.message
    return None


def _parse_edited(arguments: Mapping[str, Any] | str | None) -> Mapping[str, Any] | None:
    if arguments is None or not isinstance(arguments, str):
        return arguments
    parsed = parse_arguments(arguments)
    if parsed is None:
        raise ArgumentsInvalid("The edited arguments are not a JSON object.", field="arguments")
    return parsed


async def _check_edited(services: Services, item_id: str, arguments: Mapping[str, Any]) -> str | OutlastError:
    """The edited arguments as text, if the tool accepts them and no rule of the run's profile denies them; otherwise
    the error, raised only once it is known that the actor may decide. Outside of the transaction, because a command may
    take long to parse."""

    def read(tx: Tx) -> tuple[str, str]:
        row = store.approval_of(tx, item_id)
        return row.approval.tool, store.run_of(tx, row.approval.run_id).profile

    tool, profile = await services.db.read(read)
    try:
        return await anyio.to_thread.run_sync(_require_allowed, services, tool, profile, arguments)
    except OutlastError as error:
        return error


def _require_allowed(services: Services, name: str, profile: str, arguments: Mapping[str, Any]) -> str:
    agent = services.engine.agents.get(profile)
    if agent is None:
        raise UnknownProfile(
            f"This server has no agent {profile!r}, so it cannot check the edited arguments.",
            hint="Approve the call as it is, or deny it.",
            field="arguments",
        )
    if (tool := services.engine.tool(agent, name)) is not None:
        tool.check(arguments)
    verdict = policy.judge(services.settings.policy, profile, name, arguments).verdict
    if verdict.decision == "deny":
        raise PolicyDenied(verdict.reason, tool=name)
    return orjson.dumps(dict(arguments)).decode()


def _grant(tx: Tx, row: ApprovalOfCall, arguments: str, actor: Actor) -> None:
    """Allow exactly these arguments of this tool for the thread from now on."""
    if row.approval.tool in policy.DECIDED_EACH_TIME:
        raise MalformedInput(
            f"Calls of {row.approval.tool} need an approval each time.",
            hint="Approve this call only, without `remember`.",
            field="remember",
        )
    tx.insert(
        grants,
        id=new_id("grant"),
        thread_id=row.approval.thread_id,
        tool=row.approval.tool,
        arguments=policy.canonical(parse_arguments(arguments) or {}),
        created_by=actor.user_id,
        created_at=tx.now,
    )


def _answer(
    tx: Tx, services: Services, actor: Actor, row: ApprovalOfCall, run: Run, answers: Mapping[str, Any]
) -> DecisionAnswer:
    result = {"content": answer_text(answers), "is_error": False}
    value = value_of(parse_arguments(row.approval.arguments) or {}, answers)
    store.update_effect(tx, row.approval.effect_id, status="finished", ended_at=tx.now, result=result)
    journal_store.answer_step(tx, row.approval.effect_id, value)
    return _resolve(tx, services, actor, row, run, "answered", {"answers": dict(answers)})


def _check_answers(services: Services, asked: list[dict[str, Any]], answers: Mapping[str, str | list[str]]) -> None:
    known = {str(question["id"]): question for question in asked}
    for name in answers:
        if name not in known:
            raise MalformedInput(f"Unknown question {name[:60]!r}.", field="answers", questions=list(known))
    for name, question in known.items():
        answer = answers.get(name)
        if answer is None or answer in ("", []):
            if question.get("optional"):
                continue
            raise MalformedInput(f"The question {name!r} has no answer.", field=f"answers.{name}")
        if isinstance(answer, list) and not question.get("multiple"):
            raise MalformedInput(f"The question {name!r} takes one answer.", field=f"answers.{name}")
        given = answer if isinstance(answer, list) else [answer]
        if question.get("closed") and any(one not in question["options"] for one in given):
            raise MalformedInput(
                f"The question {name!r} takes only its options.", field=f"answers.{name}", options=question["options"]
            )
    size = len(orjson.dumps(dict(answers)))
    check_bytes("The answers", size, services.settings.limits.message_bytes)


def _resolve(
    tx: Tx, services: Services, actor: Actor, row: ApprovalOfCall, run: Run, status: str, decision: dict[str, Any]
) -> DecisionAnswer:
    decided: dict[str, Any] = {
        "status": status,
        "decision": decision,
        "decided_by": actor.user_id,
        "decided_at": tx.now,
        # While a worker holds the run, only that worker writes its log: it announces this before its next effect.
        "announced": run.leg == "parked",
    }
    tx.update(approvals, {"id": row.approval.id}, **decided)
    row = row._replace(approval=row.approval._replace(**decided))
    if run.leg == "parked":
        parking.unpark(tx, services.engine, run, resolution_events(row))
    tell_settled(tx, run.project_id, [row.approval.kind])
    return _to_answer(row.approval)


def _to_answer(row: ApprovalRow) -> DecisionAnswer:
    words = {"approved": "approve", "denied": "deny", "answered": "answer"}
    return DecisionAnswer(
        id=row.id,
        run_id=row.run_id,
        decision=words.get(row.status, row.status),
        reason=str((row.decision or {}).get("reason") or ""),
        by=row.decided_by,
        decided_at=iso(row.decided_at) if row.decided_at else None,
    )

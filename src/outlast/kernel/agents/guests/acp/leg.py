"""A run of a guest that speaks the Agent Client Protocol.

What its process writes is read in units of the run's journal: a turn of the agent, the result of a call, a request for
permission. Each keeps the number of the last line that it has read. A leg of a later server finds the process by its
tag and goes on behind that line. Only if the process is gone is another one started, which loads the session and is
told so.
"""

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from functools import partial
from hashlib import sha256
from typing import Any, Final

import anyio
import anyio.to_thread

from outlast.base.agent_errors import GuestFailed, NoSandboxes
from outlast.base.errors import OutlastError, SandboxLost
from outlast.db.database import Tx
from outlast.kernel.agents.context import Context
from outlast.kernel.agents.guests.acp import messages as acp
from outlast.kernel.agents.guests.acp import process
from outlast.kernel.agents.guests.acp.program import AcpProgram
from outlast.kernel.agents.guests.acp.session_history import SESSION, earlier
from outlast.kernel.models.protocol import (
    Delta,
    ReasoningDelta,
    TextDelta,
    ToolArgumentsDelta,
    ToolCallStart,
    TurnEnd,
    Usage,
)
from outlast.kernel.runs import policy, store
from outlast.kernel.runs.finishers import workflow_step
from outlast.kernel.runs.function_output import Shown
from outlast.kernel.runs.guest_journal import GuestJournal, MadeTurn, Result, Show
from outlast.kernel.runs.journal import MAX_SHOWN_STEPS
from outlast.kernel.runs.shapes import WorkflowStatus
from outlast.kernel.sandboxes.checkpoints.workspaces import mark_changed
from outlast.kernel.sandboxes.settings import NO_SANDBOXES_HINT
from outlast.kernel.streams.log_store import NamedEvent
from outlast_sandbox.interactive import Processes

FOLDER: Final = "/workspace"
HOME: Final = "/workspace/.acp"
START_S: Final = 120.0  # for a process to be ready, with its session
STOP_S: Final = 0.8
MOST_RESUMES: Final = 5
MOST_TURN_PARTS: Final = 128  # a turn with more calls and changes between text and thought goes on in another one
MAX_TURN_CHARS: Final = 500_000  # a turn is kept in a piece
MOST_CALLS: Final = 5_000  # of a run
MOST_KEPT: Final = 128  # open calls whose titles and texts are kept
MOST_KEPT_IN_UNIT: Final = 8
WORDS: Final[Mapping[str, WorkflowStatus]] = {"in_progress": "started", "completed": "done"}
EDITED: Final = "The agent takes no changed arguments, so the call was rejected. Tell it in a message what you want."
INTERRUPTED: Final = (
    "Your work was interrupted: the machine that you work on was replaced. The files in /workspace are as they were "
    "saved last; programs that ran have ended, and your last call may have taken effect or not. Look before you repeat "
    "anything, then go on."
)
LOST: Final = "The sandbox was lost during this call. It may have taken effect or not."
State = dict[str, Any]


class AcpLeg:
    """The journal's units are named by the number of the iteration; in each, one unit does what the state names as
    `next`, or the lost process is replaced."""

    def __init__(self, program: AcpProgram, ctx: Context, journal: GuestJournal) -> None:
        self._program, self._ctx, self._journal = program, ctx, journal
        self._run = journal.context.run
        self._engine = journal.context.engine
        self._connection: process.Connection | None = None
        self._processes: Processes | None = None
        self._session = ""
        self._begun: dict[
            str, tuple[str, int]
        ] = {}  # by the agent's ids: our ids of calls, and the lines they begin in
        self._kept: dict[str, dict[str, str]] = {}  # what the agent has said about its calls until their results
        self._asked: set[str] = set()  # calls that it has asked about
        self._allowed: set[str] = set()  # calls that were allowed, but whose process ended before it knew
        self._plan: Mapping[str, str] = {}
        self._shown_steps = 0
        self._text = ""  # of the last turn that has one

    async def play(self) -> Any:
        """The agent's answer. Raises `GuestFailed`, `SandboxUnavailable`, `SandboxLost`."""
        self._ctx.on_cancel(self._stop)
        try:
            text = await self._play()
            await self._end()
            return Shown(text)
        except SandboxLost:
            raise
        except OutlastError:
            await self._end()
            raise
        finally:
            if self._connection is not None:
                with anyio.CancelScope(shield=True):
                    await self._connection.aclose()

    async def _play(self) -> str:
        state: State = await self._journal.unit(SESSION, self._begin)
        number, resumes = 0, 0
        self._session = state["session"]
        while state["next"] != "end":
            number += 1
            decided = await self._decided(state) if state["next"] == "permission" else ""
            resume, name = f"resume {number}", f"{state['next']} {number}"
            if self._journal.has(resume) or not (self._journal.has(name) or await self._connect(state)):
                resumes += 1
                if resumes > MOST_RESUMES:
                    raise GuestFailed("The agent's sandbox was lost too often.", hint="Continue the run.")
                state = await self._journal.unit(resume, partial(self._resume, state, decided), self._note)
                self._allowed.update(state["allowed"])
                continue
            state = await self._step(name, state, decided)
            if self._connection is not None:
                await self._connection.recorded(state["line"])
        if state["stop"] not in ("end_turn", "cancelled"):
            self._ctx.show(f"The agent stopped: {state['stop'].replace('_', ' ')}.")
        return self._text

    async def _step(self, name: str, state: State, decided: str) -> State:
        if state["next"] == "turn":
            made: State = await self._journal.turn(name, partial(self._turn, state), {})
            self._begun.update({of: (call_id, number) for of, (call_id, number) in made.pop("begun").items()})
            self._text = made.pop("text") or self._text
            return made
        works: dict[str, Callable[[State], Awaitable[State]]]
        works = {"prompt": self._prompt, "results": self._results, "permission": partial(self._answer, decided)}
        done: State = await self._journal.unit(name, partial(works[state["next"]], state), self._note)
        if "plan" in done:
            self._shown_steps += len(self._news(done["plan"]))
            self._plan = done["plan"]
        for call_id, kept in done.pop("kept", {}).items():
            self._keep(call_id, kept)
        for call_id in done.get("results", ()):
            self._kept.pop(call_id, None)
        return done

    # ---- the process

    async def _open(self) -> Processes:
        if not self._engine.workspaces.are_offered:
            raise NoSandboxes(f"This server has no sandboxes. {NO_SANDBOXES_HINT}")
        workspace = await self._engine.workspaces.open(self._ctx)
        await self._engine.db.write(mark_changed, workspace.workspace_id)  # after a kill, a checkpoint is still due
        self._journal.context.works_in(workspace.workspace_id)
        self._processes = workspace.sandbox.processes
        return self._processes

    async def _connect(self, state: State) -> bool:
        """Whether the process of this state runs, connected from then on."""
        if self._connection is not None:
            return True
        processes = await self._open()
        pid = await process.find(processes, self._tag(state["process"]))
        if pid is None:
            return False
        connection = process.Connection(processes, pid)
        self._connection = connection
        await connection.open(state["line"])
        return True

    def _tag(self, number: int) -> str:
        """It names the effect, so that the process ends with it if the run is cancelled while no worker holds it."""
        return f"{self._ctx.effect_id} {number}"

    async def _begin(self) -> State:
        """A process with a session: that of the thread's earlier runs, if the agent can load it."""
        limit = self._engine.settings.runs.context_messages
        before = await self._engine.db.read(partial(earlier, run=self._run, limit=limit))
        with _in_time(self._program.argv[0]):
            can_load = await self._start(0)
            session = ""
            if before.session_id and can_load:
                session = before.session_id if await self._load(before.session_id) else ""
            texts = before.since if session else before.whole
            session = session or await self._new_session()
        return self._state(0, session, can_load, "\n\n".join([*texts, self._ctx.message]))

    async def _resume(self, state: State, decided: str) -> State:
        """Another process, which reads what has happened."""
        if not state["can_load"]:
            raise GuestFailed(
                "The sandbox was lost during the run, and this agent cannot load its sessions.",
                hint="Its files are kept. Send a message that says how to go on.",
            )
        number = state["process"] + 1
        with _in_time(self._program.argv[0]):
            await self._start(number)
            if not await self._load(state["session"]):
                raise GuestFailed(
                    "The sandbox was lost during the run, and the agent could not load its session again.",
                    hint="Its files are kept. Send a message that says how to go on.",
                )
        told = [INTERRUPTED]
        asked = state.get("asked") or {}
        if decided:
            word = "allowed" if decided == "allowed" else "rejected"
            told.append(f"What you had asked for was {word}: {asked['title']}")
        if not state["has_begun"]:
            told.append(f"The message that you answer:\n{self._ctx.message}")
        after = self._state(number, state["session"], True, "\n\n".join(told))
        lost = dict.fromkeys(self._journal.call_ids, (LOST, True))
        return {**after, "results": lost, "allowed": [asked["key"]] if decided == "allowed" else []}

    def _state(self, number: int, session: str, can_load: bool, prompt: str) -> State:
        connection = self._connection
        return {
            "process": number,
            "line": 0 if connection is None else connection.taken,
            "agent": self._run.profile,
            "session": session,
            "can_load": can_load,
            "next": "prompt",
            "prompt": prompt,
            "has_begun": False,
            "allowed": [],
        }

    async def _start(self, number: int) -> bool:
        """Start a process in place of any other. Returns whether it can load sessions."""
        processes = await self._open()
        await process.end_all(processes)
        if self._connection is not None:
            await self._connection.aclose()
        env = {"HOME": HOME, **self._program.env}
        pid = await process.start(processes, self._program.argv, env, self._tag(number))
        self._connection = process.Connection(processes, pid)
        await self._connection.open(0)
        who = {"name": "outlast", "title": "Outlast", "version": "1"}
        nothing = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
        params = {"protocolVersion": acp.PROTOCOL, "clientCapabilities": nothing, "clientInfo": who}
        told = await self._ask(acp.INITIALIZE, "initialize", params)
        if told.error or told.result.get("protocolVersion") != acp.PROTOCOL:
            raise GuestFailed(f"The agent does not speak version 1 of its protocol. {told.error}".strip())
        if self._program.auth_method:
            signed = await self._ask(acp.SIGN_IN, "authenticate", {"methodId": self._program.auth_method})
            if signed.error:
                raise GuestFailed(f"The agent could not sign in: {signed.error}")
        capabilities = told.result.get("agentCapabilities")
        return isinstance(capabilities, dict) and capabilities.get("loadSession") is True

    async def _new_session(self) -> str:
        told = await self._ask(acp.SESSION, "session/new", {"cwd": FOLDER, "mcpServers": []})
        session = acp.session_of(told.result)
        if told.error or not session:
            raise GuestFailed(f"The agent began no session: {told.error}")
        return session

    async def _load(self, session_id: str) -> bool:
        """Whether the session was loaded. What it repeats of it is not shown again."""
        params = {"sessionId": session_id, "cwd": FOLDER, "mcpServers": []}
        return not (await self._ask(acp.SESSION, "session/load", params, "load")).error

    async def _ask(self, request_id: int, method: str, params: Mapping[str, Any], key: str = "") -> acp.Response:
        assert self._connection is not None
        await self._connection.send(key or method, acp.request(request_id, method, params))
        while True:
            event = (await self._connection.take()).event
            if isinstance(event, acp.Exited):
                raise _exited(event)
            if isinstance(event, acp.Pause):  # another leg starts another process
                await self._connection.recorded(self._connection.taken)
            if isinstance(event, acp.Response) and event.request_id == request_id:
                return event

    async def _end(self) -> None:
        if self._connection is not None and self._processes is not None:
            with suppress(SandboxLost):
                await process.end(self._processes, self._connection.pid)

    async def _stop(self) -> None:
        """A person has cancelled the run: the agent is asked to stop, then its process is ended."""
        processes, connection = self._processes, self._connection
        if processes is None or connection is None:
            return
        with anyio.move_on_after(STOP_S):
            fresh = process.Connection(processes, connection.pid)
            await fresh.open(connection.taken)
            await fresh.send("cancel", acp.cancel(self._session))
            while not isinstance((await fresh.take()).event, (acp.Response, acp.Exited)):
                pass
        await self._end()
        self._journal.context.files_changed(self._ctx.effect_id)

    # ---- units

    async def _prompt(self, state: State) -> State:
        assert self._connection is not None
        params = {"sessionId": state["session"], "prompt": [{"type": "text", "text": state["prompt"]}]}
        await self._connection.send("prompt", acp.request(acp.PROMPT, "session/prompt", params))
        return {**state, "next": "results", "prompt": ""}

    async def _turn(self, state: State, show: Show) -> MadeTurn:
        """What the agent writes and calls, up to the first result, request for permission, or text after a call."""
        assert self._connection is not None
        calls: dict[str, dict[str, Any]] = {}
        texts: list[str] = []
        following, is_begun, changes, chars, was_thought = "", False, 0, 0, False
        while not following:
            try:
                said = await self._connection.peek()
            except SandboxLost:
                if not is_begun:
                    raise
                following = "results"  # what was shown is recorded, before the process is replaced
                break
            is_taken, following = self._take_into(calls, said)
            if isinstance(said.event, acp.Text) and is_taken:
                is_thought, text = said.event.is_thought, said.event.text
                texts += [] if is_thought else [text]
                await show([ReasoningDelta(text) if is_thought else TextDelta(text)])
                changes, was_thought = changes + (is_thought != was_thought), is_thought
            chars += len(said.event.text) if isinstance(said.event, acp.Text) else said.size
            if len(calls) + changes >= MOST_TURN_PARTS or chars > MAX_TURN_CHARS:
                following = following or "results"
            if is_taken:
                await self._connection.take()
            is_begun = True
        if len(self._journal.call_ids) + len(calls) > MOST_CALLS:
            raise GuestFailed(f"The agent made more than {MOST_CALLS:,} calls.", hint="Continue the run.")
        await show(_deltas(calls))
        for call_id, call in calls.items():
            self._keep(call_id, acp.kept_of(call))
        changed = {"next": following, "line": self._connection.taken, "has_begun": True, "text": "".join(texts)}
        end = TurnEnd("tool_calls" if calls else "stop", Usage())
        tools = frozenset(map(acp.tool_of, calls.values()))
        begun = {of: one for of, one in self._begun.items() if one[0] in calls}
        return MadeTurn({**state, **changed, "results": {}, "begun": begun}, end, list(calls), unjudged=tools)

    def _take_into(self, calls: dict[str, dict[str, Any]], said: process.Said) -> tuple[bool, str]:
        """Add what belongs to a turn to its calls. Returns whether it is taken, and what follows the turn if it ends
        here."""
        number, event, _ = said
        if isinstance(event, acp.Pause):
            return True, "results"
        if isinstance(event, acp.Text):
            return not calls, "turn" if calls else ""
        if isinstance(event, acp.Call) and (self._begins(said) or not self._knows(event.call_id)):
            if self._begins(said):
                was = self._name(event.call_id)
                name = was if not self._knows(event.call_id) else f"{event.call_id}:{number}"
                self._begun[event.call_id] = name, number
            calls.setdefault(self._name(event.call_id), {}).update(event.fields)
            status = event.fields.get("status")
            return status not in acp.DONE, "" if status in (None, "pending") else "results"  # a result is read next
        if isinstance(event, acp.Asked):
            call_id = self._call_id(number, event)
            if self._journal.call_of(call_id) is None:
                calls.setdefault(call_id, {}).update(event.fields)
        return False, "results"

    async def _results(self, state: State) -> State:
        """What is no turn: the result of a call, a plan, a request for permission, the end."""
        assert self._connection is not None
        state = {name: value for name, value in state.items() if name not in ("results", "plan", "asked")}
        kept: dict[str, dict[str, str]] = {}  # of the calls that this unit reads about
        while True:
            said = await self._connection.peek()
            number, event, _ = said
            if isinstance(event, acp.Exited):
                raise _exited(event)
            changed: State = {"next": "turn"}
            is_known = isinstance(event, acp.Call) and self._knows(event.call_id) and not self._begins(said)
            if isinstance(event, acp.Asked) and self._journal.call_of(self._call_id(number, event)) is not None:
                changed = {"next": "permission", "asked": self._asked_for(number, event)}
            elif isinstance(event, acp.Plan):
                changed = {"next": "results", "plan": dict(event.entries)}
            elif isinstance(event, acp.Response):
                changed = _ended(event) if event.request_id == acp.PROMPT else {"next": "results"}
            elif isinstance(event, acp.Call) and is_known:
                name = self._name(event.call_id)
                kept[name] = self._keep(name, acp.kept_of(event.fields))
                if event.fields.get("status") not in acp.DONE:
                    await self._connection.take()
                    continue
                result = acp.result_text(kept.pop(name)), event.fields["status"] == "failed"
                changed = {"next": "results", "results": {name: result}}
            elif isinstance(event, acp.Pause):
                changed = {"next": "results"}
            else:
                return {**state, **changed, "line": self._connection.taken, "kept": _last(kept)}
            await self._connection.take()
            return {**state, **changed, "line": self._connection.taken, "kept": _last(kept)}

    def _keep(self, call_id: str, more: Mapping[str, str]) -> dict[str, str]:
        """Keep what the agent says about a call that it works on. Returns all of it."""
        kept = self._kept[call_id] = {**self._kept.pop(call_id, {}), **more}
        while len(self._kept) > MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        return kept

    def _news(self, plan: Mapping[str, str]) -> list[tuple[str, WorkflowStatus]]:
        """The entries of a plan that have begun or are done, as far as the run still shows steps."""
        news = [(one, WORDS[now]) for one, now in plan.items() if now in WORDS and self._plan.get(one) != now]
        return news[: MAX_SHOWN_STEPS - self._shown_steps]

    def _asked_for(self, number: int, event: acp.Asked) -> State:
        call_id = self._call_id(number, event)
        call = self._kept.get(self._name(event.call_id), {}) | dict(event.fields)
        effect = self._journal.call_of(call_id)
        assert effect is not None
        arguments = self._journal.arguments_of(call_id) or {}
        tool = effect.tool or ""
        return {
            "request": event.request_id,
            "number": number,
            "call": call_id,
            "tool": tool,
            "arguments": arguments,
            "title": call.get("title") or tool,
            "options": event.options,
            "key": sha256(f"{tool} {policy.canonical(arguments)}".encode()).hexdigest(),
        }

    def _name(self, call_id: str) -> str:
        """Our id of the call that the agent has begun last under this id."""
        return self._begun[call_id][0] if call_id in self._begun else call_id

    def _knows(self, call_id: str) -> bool:
        return self._journal.call_of(self._name(call_id)) is not None

    def _begins(self, said: process.Said) -> bool:
        """Whether a call begins here that is in no turn yet."""
        number, event, _ = said
        if not isinstance(event, acp.Call) or not event.begins:
            return False
        return event.call_id not in self._begun or self._begun[event.call_id][1] != number

    def _call_id(self, number: int, event: acp.Asked) -> str:
        """The call that a request is about. A second request about a call is one of its own, so that people decide on
        each."""
        name = self._name(event.call_id)
        return f"{name}:{number}" if name in self._asked else name

    async def _decided(self, state: State) -> str:
        """`allowed`, `rejected` or `changed`, once a rule or a person has decided. The run is parked meanwhile."""
        asked = state["asked"]
        call_id, arguments = asked["call"], asked["arguments"]
        self._asked.add(call_id)
        if asked["key"] in self._allowed:
            self._allowed.discard(asked["key"])
            return "allowed"
        reason = f"The agent asks: {asked['title']}"
        if not self._journal.has(f"ask {call_id}"):
            rules, profile = self._engine.settings.policy, self._run.profile
            judged = await anyio.to_thread.run_sync(policy.judge, rules, profile, asked["tool"], arguments, reason)
            grants = await self._engine.db.read(store.grants_of, self._run.thread_id)
            verdict = judged.after(grants)
            if verdict.decision != "ask":
                return "allowed" if verdict.decision == "allow" else "rejected"
            reason = verdict.reason
        await self._journal.ask_first(call_id, reason)
        if await self._journal.admit(call_id, asked["tool"], arguments) is not None:
            return "rejected"
        return "allowed" if self._journal.arguments_of(call_id) == arguments else "changed"

    async def _answer(self, decided: str, state: State) -> State:
        assert self._connection is not None
        asked = state["asked"]
        outcome = acp.answer(asked["options"], allow=decided == "allowed")
        await self._connection.send(f"answer {asked['number']}", acp.respond(asked["request"], outcome))
        if decided == "changed":
            self._ctx.show(EDITED)
        results = {asked["call"]: ("Allowed." if decided == "allowed" else "Rejected.", decided != "allowed")}
        is_second = ":" in asked["call"] and asked["call"].endswith(f":{asked['number']}")
        return {**state, "next": "results", "asked": None, "results": results if is_second else {}}

    def _note(self, state: State, tx: Tx, events: list[NamedEvent]) -> None:
        """What is recorded with a unit: results, steps of the plan, tokens."""
        results = {call_id: Result(*one) for call_id, one in state.get("results", {}).items()}
        if state["next"] == "end":
            results |= {call_id: Result("") for call_id in self._journal.call_ids if call_id not in results}
        self._journal.close(results, tx, events)
        events += [workflow_step(self._run.id, one, word) for one, word in self._news(state.get("plan", {}))]
        if state["next"] == "end":
            store.add_usage(tx, self._run.id, state["usage"])
        if results:
            self._journal.context.files_changed(self._ctx.effect_id)


@contextmanager
def _in_time(program: str) -> Iterator[None]:
    """Limits the start of an agent."""
    try:
        with anyio.fail_after(START_S):
            yield
    except TimeoutError:
        raise GuestFailed(f"{program} was not ready within {START_S:g} s.") from None


def _deltas(calls: Mapping[str, Mapping[str, Any]]) -> list[Delta]:
    deltas: list[Delta] = []
    for index, (call_id, call) in enumerate(calls.items()):
        deltas.append(ToolCallStart(index, call_id, acp.tool_of(call)))
        deltas.append(ToolArgumentsDelta(index, json.dumps(acp.arguments_of(call), ensure_ascii=False)))
    return deltas


def _last(kept: Mapping[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    return dict(list(kept.items())[-MOST_KEPT_IN_UNIT:])


def _ended(response: acp.Response) -> State:
    if response.error:
        raise GuestFailed(f"The agent failed: {response.error}")
    return {"next": "end", "stop": acp.stop_of(response.result), "usage": asdict(acp.usage_of(response.result))}


def _exited(event: acp.Exited) -> GuestFailed:
    said = event.stderr.strip()[-acp.MAX_ERROR_CHARS :]
    return GuestFailed(f"The agent's program ended with exit code {event.code}. {said}".strip())

"""An agent that speaks the Agent Client Protocol by itself, without a model: what it does is said by the message.

It runs in a sandbox as it is, so it imports only the standard library. Its sessions are files in its home folder, and
each thing that it does adds a line to the file `done` of the workspace.
"""

import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

OPTIONS = [
    {"optionId": "always", "name": "Always", "kind": "allow_always"},
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]
out = threading.Lock()
responses: dict[int, Any] = {}
arrived = threading.Condition()
cancelled = threading.Event()
LOADS = os.environ.get("LOADS", "yes") == "yes"


def send(message: dict[str, Any]) -> None:
    with out:
        print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def update(session: str, update_kind: str, **fields: Any) -> None:
    send(
        {
            "method": "session/update",
            "params": {"sessionId": session, "update": {"sessionUpdate": update_kind, **fields}},
        }
    )


def say(session: str, text: str, kind: str = "agent_message_chunk") -> None:
    update(session, kind, content={"type": "text", "text": text})


def ask(number: int, method: str, params: dict[str, Any]) -> Any:
    send({"id": number, "method": method, "params": params})
    with arrived:
        while number not in responses:
            arrived.wait()
        return responses.pop(number)


def note(line: str) -> None:
    with Path("done").open("a") as file:
        file.write(line + "\n")


def write(session: str, name: str, number: int) -> bool:
    """Write a file, if a person allows it."""
    call, text = f"call-{number}", f"Text of {name}"
    update(session, "tool_call", toolCallId=call, title=f"Write {name}", kind="edit", status="pending", rawInput={})
    asked = {"toolCallId": call, "title": f"Write {name}", "rawInput": {"path": name, "content": text}}
    told = ask(number, "session/request_permission", {"sessionId": session, "toolCall": asked, "options": OPTIONS})
    allowed = told["outcome"].get("optionId") == "yes"
    if allowed:
        Path(name).write_text(text + "\n")
        note(f"write {name}")
    diff = {"type": "diff", "path": f"/workspace/{name}", "oldText": None, "newText": text}
    status = "completed" if allowed else "failed"
    update(session, "tool_call_update", toolCallId=call, status=status, content=[diff] if allowed else [])
    return allowed


def wait(session: str) -> None:
    """A command that ends when the file `go` is there, or the session is cancelled."""
    update(
        session,
        "tool_call",
        toolCallId="wait",
        title="sleep",
        kind="execute",
        status="in_progress",
        rawInput={"command": "sleep 1000"},
    )
    note("wait begins")
    while not Path("go").exists() and not cancelled.is_set():
        time.sleep(0.02)
    if not cancelled.is_set():
        note("wait ends")
        update(session, "tool_call_update", toolCallId="wait", status="completed", rawOutput={"output": "waited"})


def nap(session: str) -> None:
    """A command that takes a while."""
    call = {"title": "nap", "kind": "execute", "status": "in_progress", "rawInput": {"command": "nap"}}
    update(session, "tool_call", toolCallId="nap", **call)
    note("nap")
    time.sleep(0.3)
    done = [{"type": "content", "content": {"type": "text", "text": "rested"}}]
    update(session, "tool_call_update", toolCallId="nap", status="completed", content=done)


def flood(session: str) -> None:
    """More of everything than a server should keep."""
    for number in range(150):
        update(session, "tool_call", toolCallId=f"many-{number}", title="Many", kind="read", status="pending")
    for status in ("in_progress", "completed", "in_progress", "completed"):
        entries = [{"content": f"Step {number}", "priority": "low", "status": status} for number in range(300)]
        update(session, "plan", entries=entries)
    big = [{"type": "content", "content": {"type": "text", "text": "x" * 3_900_000}}]
    for _ in range(17):
        update(session, "tool_call_update", toolCallId="many-1", status="in_progress", content=big)
    update(session, "tool_call_update", toolCallId="many-1", status="completed")


def forge(_session: str) -> None:
    """A line that the server takes for one of the relay."""
    with open(f"/proc/{os.getppid()}/fd/1", "w") as relays:
        relays.write('\n{"n": "1", "line": "{}"}\n')
    time.sleep(60)


def play(session: str, prompt: str) -> str:
    plan = [
        {"content": "Look", "priority": "high", "status": "completed"},
        {"content": "Write", "priority": "high", "status": "in_progress"},
    ]
    say(session, "Let me think. ", "agent_thought_chunk")
    if "unknown method" in prompt:
        ask(70, "fs/read_text_file", {"sessionId": session, "path": "/etc/passwd"})
    if "interrupted" in prompt:
        say(session, "I was interrupted. ")
        if "was allowed" in prompt:
            say(session, "Written." if write(session, "note.txt", 9) else "Not written.")
        return "end_turn"
    if "exit" in prompt:
        print("no more memory", file=sys.stderr)
        os._exit(3)
    if "remember" in prompt:
        say(session, " | ".join(json.loads(place(session).read_text())))
        return "end_turn"
    say(session, "On ")
    say(session, "it.")
    update(session, "plan", entries=plan)
    if "wait" in prompt:
        wait(session)
        if cancelled.is_set():
            note("cancelled")
            return "cancelled"
    for word, act in (("nap", nap), ("flood", flood), ("forge", forge)):
        if word in prompt:
            act(session)
    if "write" in prompt:
        first = write(session, "note.txt", 7)
        say(session, "Written." if first else "Not written.")
    if "twice" in prompt:  # the second call has the id of the first, as some models give
        say(session, " And more." if write(session, "more.txt", 7) else " No more.")
    return "end_turn"


def place(session: str) -> Path:
    return Path(os.environ.get("SESSIONS") or Path.home() / "sessions") / session


def keep(session: str, prompt: str) -> None:
    place(session).write_text(json.dumps([*json.loads(place(session).read_text()), prompt]))


def work(message: dict[str, Any]) -> None:
    session = message["params"]["sessionId"]
    prompt = "\n".join(block["text"] for block in message["params"]["prompt"])
    keep(session, prompt)
    prompt += os.environ.get("PLAY", "")
    reason = play(session, prompt)
    usage = {"inputTokens": 100, "outputTokens": 20, "cachedReadTokens": 50, "thoughtTokens": 5, "totalTokens": 175}
    send({"id": message["id"], "result": {"stopReason": reason, "usage": usage}})


def answer(message: dict[str, Any]) -> None:
    method, result = message["method"], {}
    if method == "initialize":
        result = {"protocolVersion": 1, "agentCapabilities": {"loadSession": LOADS}, "authMethods": []}
    elif method == "session/new":
        session = os.environ.get("SESSION") or f"ses-{os.getpid()}-{time.time_ns()}"
        place(session).parent.mkdir(parents=True, exist_ok=True)
        place(session).write_text("[]")
        result = {"sessionId": session}
    elif method == "session/load":
        session = message["params"]["sessionId"]
        if not place(session).exists():
            send({"id": message["id"], "error": {"code": -32002, "message": "Session not found"}})
            return
        say(session, "what was said before")
    send({"id": message["id"], "result": result})


for line in sys.stdin:
    message = json.loads(line)
    if "method" not in message:
        with arrived:
            responses[message["id"]] = message.get("result", message.get("error"))
            arrived.notify_all()
    elif message["method"] == "session/cancel":
        cancelled.set()
    elif message["method"] == "session/prompt":
        threading.Thread(target=work, args=(message,), daemon=True).start()
    else:
        answer(message)

"""`process.Process`: start programs inside, send them input, follow their output, end them."""

import base64
import binascii
import signal
from typing import Any, Final

import anyio
from starlette.requests import Request
from starlette.types import ASGIApp

from outlast.base.errors import MalformedInput, NotFound, OutlastError
from outlast.surfaces.protocols.e2b import connect
from outlast.surfaces.protocols.e2b.access import Inside, Unary, inside
from outlast.surfaces.protocols.e2b.connect import Emit, Message, StreamAnswer
from outlast.surfaces.protocols.e2b.names import full_path
from outlast_sandbox.interactive import ProcessEnd, Processes, ProcessInfo, ProcessOutput, ProcessSpec, TerminalSize

SIGNALS: Final = {"SIGNAL_SIGTERM": 15, "SIGNAL_SIGKILL": 9}
STREAMS: Final = {"stdout": "stdout", "stderr": "stderr", "terminal": "pty"}
KILLED_WITHIN_S: Final = 1.0
LOOK_S: Final = 0.005
MAX_ARGUMENT_BYTES: Final = 1_000_000


async def list_processes(place: Inside, _message: Message) -> Message:
    return {"processes": [_shown(info) for info in await place.sandbox.processes.list()]}


async def update(place: Inside, message: Message) -> Message:
    size = _size(message.get("pty"))
    pid = await _pid(place.sandbox.processes, message)
    if size is not None:
        await place.sandbox.processes.resize(pid, size)
    return {}


async def send_input(place: Inside, message: Message) -> Message:
    pid = await _pid(place.sandbox.processes, message)
    await place.sandbox.processes.write(pid, _input(message))
    return {}


async def send_signal(place: Inside, message: Message) -> Message:
    given = message.get("signal")
    number = SIGNALS.get(given) if isinstance(given, str) else given
    if not isinstance(number, int) or number not in SIGNALS.values():
        raise MalformedInput(f"The signal must be one of {', '.join(SIGNALS)}.", field="signal")
    processes = place.sandbox.processes
    pid = await _pid(processes, message)
    kills = number == SIGNALS["SIGNAL_SIGKILL"]
    await processes.signal(pid, number, group=kills)
    if kills:
        await _until_ended(processes, pid)
    return {}


async def close_stdin(place: Inside, message: Message) -> Message:
    await place.sandbox.processes.close_stdin(await _pid(place.sandbox.processes, message))
    return {}


UNARY: Final[dict[str, Unary]] = {
    "List": list_processes,
    "Update": update,
    "SendInput": send_input,
    "SendSignal": send_signal,
    "CloseStdin": close_stdin,
}


async def start(request: Request) -> ASGIApp:
    """Start a program and follow it. It outlives the connection, and ends at the caller's time limit."""
    place = await inside(request)
    spec = _spec(await connect.read_one(request))
    timeout_s, processes = connect.timeout_of(request), place.sandbox.processes

    async def produce(emit: Emit) -> None:
        with place.open_stream():
            try:
                info = await processes.start(spec)
            except NotFound as error:
                raise MalformedInput(error.message, hint=error.hint) from None
            limit = None if timeout_s is None else place.runtime.end_after(timeout_s, processes, info.pid)
            await _follow(processes, info.pid, emit, connect.ping_s(request))
            if limit is not None:
                limit.cancel()

    return StreamAnswer(produce, timeout_s)


async def listen(request: Request) -> ASGIApp:
    """`Connect`: follow a running program."""
    place = await inside(request)
    message = await connect.read_one(request)

    async def produce(emit: Emit) -> None:
        pid = await _pid(place.sandbox.processes, message)
        with place.open_stream():
            await _follow(place.sandbox.processes, pid, emit, connect.ping_s(request))

    return StreamAnswer(produce, connect.timeout_of(request))


async def stream_input(request: Request) -> ASGIApp:
    """Send input to a process as it arrives, in order. The first message names the process."""
    place = await inside(request)
    processes, pid = place.sandbox.processes, None
    try:
        with place.open_stream():
            async for message in connect.read_stream(request):
                if "start" in message:
                    pid = await _pid(processes, connect.object_in(message, "start"))
                elif "data" in message and pid is not None:
                    await processes.write(pid, _input(connect.object_in(message, "data")))
                elif "keepalive" not in message:
                    raise MalformedInput("A stream of input must begin with its process.")
    except OutlastError as error:
        return connect.stream_error(error)
    return StreamAnswer(lambda emit: emit({}))


async def _until_ended(processes: Processes, pid: int) -> None:
    """Wait until a killed process is gone, as callers expect; that takes the kernel a moment."""
    with anyio.move_on_after(KILLED_WITHIN_S):
        while True:
            if not any(info.pid == pid for info in await processes.list()):
                return
            await anyio.sleep(LOOK_S)


async def _follow(processes: Processes, pid: int, emit: Emit, ping_s: float) -> None:
    """Send the program's output until its end, and a keepalive message whenever it was silent for `ping_s` seconds."""
    async with processes.follow(pid) as events:
        await emit({"event": {"start": {"pid": pid}}})
        async with connect.pinging(emit, {"event": {"keepalive": {}}}, ping_s):
            async for event in events:
                await emit({"event": _event(event)})


def _event(event: ProcessOutput | ProcessEnd) -> Message:
    if isinstance(event, ProcessOutput):
        return {"data": {STREAMS[event.stream]: base64.b64encode(event.data).decode()}}
    if event.signal is not None:
        status = f"signal: {_signal_name(event.signal)}"
        return {"end": {"exitCode": -1, "exited": False, "status": status, "error": status}}
    status = f"exit status {event.exit_code}"
    end: Message = {"exitCode": event.exit_code, "exited": True, "status": status}
    return {"end": end | ({"error": status} if event.exit_code else {})}


def _signal_name(number: int) -> str:
    try:
        return (signal.strsignal(number) or str(number)).lower()
    except ValueError:
        return str(number)


def _spec(message: Message) -> ProcessSpec:
    config = message.get("process")
    if not isinstance(config, dict) or not isinstance(config.get("cmd"), str) or not config["cmd"]:
        raise MalformedInput("A process needs a command.", field="process.cmd")
    argv = (config["cmd"], *_words(config.get("args", []), "process.args"))
    env = config.get("envs", {})
    if not isinstance(env, dict):
        raise MalformedInput("The environment must be an object of strings.", field="process.envs")
    _words([*env, *env.values()], "process.envs")
    if sum(len(word.encode("utf-8", "surrogatepass")) for word in (*argv, *env, *env.values())) > MAX_ARGUMENT_BYTES:
        raise MalformedInput(f"Arguments and environment can have at most {MAX_ARGUMENT_BYTES:,} bytes.")
    terminal, folder, tag = _size(message.get("pty")), config.get("cwd") or "", message.get("tag")
    if not isinstance(folder, str):
        raise MalformedInput("A folder must be a string.", field="process.cwd")
    if tag is not None and not isinstance(tag, str):
        raise MalformedInput("A tag must be a string.", field="tag")
    return ProcessSpec(
        argv,
        full_path(folder),
        env,
        terminal,
        stdin=terminal is not None or message.get("stdin", True) is not False,
        tag=tag,
    )


def _words(given: Any, name: str) -> list[str]:
    if not isinstance(given, list) or not all(isinstance(word, str) and "\x00" not in word for word in given):
        raise MalformedInput("Only strings without NUL characters are accepted.", field=name)
    return given


def _size(pty: Any) -> TerminalSize | None:
    if pty is None:
        return None
    size = connect.object_in(pty, "size") if isinstance(pty, dict) else {}
    columns, rows = size.get("cols") or 80, size.get("rows") or 24
    if not all(isinstance(number, int) and 0 < number <= 10_000 for number in (columns, rows)):
        raise MalformedInput("A terminal must have 1 to 10,000 columns and rows.", field="pty.size")
    return TerminalSize(columns, rows)


def _input(message: Message) -> bytes:
    given = connect.object_in(message, "input")
    text: Any = given.get("stdin", given.get("pty", ""))
    try:
        return base64.b64decode(text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4))
    except (AttributeError, ValueError, binascii.Error):
        raise MalformedInput("Input must be sent in Base64.", field="input") from None


async def _pid(processes: Processes, message: Message) -> int:
    """The id of the process with this pid or tag. Raises `NotFound`."""
    selector = connect.object_in(message, "process")
    tag, pid = selector.get("tag"), selector.get("pid")
    if tag is not None:
        for info in await processes.list():
            if info.spec.tag == tag:
                return info.pid
        raise NotFound("There is no process with this tag.", noun="process")
    if not isinstance(pid, int) or isinstance(pid, bool):
        raise MalformedInput("Name a process by its pid or tag.", field="process")
    return pid


def _shown(info: ProcessInfo) -> Message:
    spec = info.spec
    config = {"cmd": spec.argv[0], "args": list(spec.argv[1:]), "envs": dict(spec.env), "cwd": spec.cwd}
    return {"config": config, "pid": info.pid} | ({"tag": spec.tag} if spec.tag is not None else {})

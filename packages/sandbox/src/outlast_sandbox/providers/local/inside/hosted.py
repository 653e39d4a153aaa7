"""The agent's start in a hosted sandbox: the first process is the service's, and no socket leads in.

`start CONFIG NONCE` runs the agent in the background, unless one runs already; `find NONCE` only checks. Both print
`running` or `gone`, and end the relays that an earlier process of the same server left behind. `relay NONCE` joins its
own descriptors 0 and 1 to the agent, `dial PORT NONCE` to a port in here: each line in either direction is base64,
since not every service transfers raw bytes.
"""

from __future__ import annotations

import _socket
import base64
import ctypes
import json
import os
import select
import signal
import sys

TYPE_CHECKING = False  # importing `typing` would cost every sandbox 3 ms of its start
if TYPE_CHECKING:
    from typing import Any

    from .main import Connection

FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOCKET = FOLDER + "/socket"
PR_SET_CHILD_SUBREAPER = 36
BACKLOG = 128
CHUNK = 48 * 1024


def main(words: list[str]) -> None:
    """Carry out one of the commands above."""
    if words[0] == "start":
        _end_old_relays(words[2])
        if not _answers():
            _start(json.loads(base64.b64decode(words[1])))
        _say(b"running" if _answers() else b"gone")
    elif words[0] == "find":
        _end_old_relays(words[1])
        _say(b"running" if _answers() else b"gone")
    elif words[0] == "relay":
        _join(_connected())
    elif words[0] == "dial":
        _dial(int(words[1]))


def _answers() -> bool:
    try:
        _connected().close()
    except OSError:
        return False
    return True


def _connected() -> _socket.socket:
    sock = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    sock.connect(SOCKET)
    return sock


def _start(config: dict[str, Any]) -> None:
    """Make the workspace, then fork; returns once the agent listens."""
    os.environ["OUTLAST_WORKSPACE"] = _make_workspace(os.path.expanduser(config["workspace"]))
    os.environ["OUTLAST_TOOLS"] = FOLDER
    read_end, write_end = os.pipe()
    if os.fork() == 0:
        os.close(read_end)
        os.setsid()
        try:
            _serve(config, write_end)
        finally:
            os._exit(1)
    os.close(write_end)
    os.read(read_end, 1)  # or the end of the pipe, if the agent did not start


def _make_workspace(wanted: str) -> str:
    """The workspace, created if it is missing; below the home folder if it cannot be created at that path."""
    if os.access(wanted, os.W_OK):
        return os.path.realpath(wanted)
    owner = f"{os.getuid()}:{os.getgid()}"
    commands = f"mkdir -p {wanted} || sudo -n mkdir -p {wanted} && sudo -n chown {owner} {wanted}"
    os.system(f"({commands}) >/dev/null 2>&1")
    if os.access(wanted, os.W_OK):
        return os.path.realpath(wanted)
    elsewhere = os.path.expanduser("~") + wanted
    os.makedirs(elsewhere, exist_ok=True)
    return os.path.realpath(elsewhere)


def _serve(config: dict[str, Any], started: int) -> None:
    from .loop import READ, Loop
    from .main import Connection, start_agent
    from .spawner import Spawner

    log = os.open(FOLDER + "/log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    null = os.open("/dev/null", os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.chdir("/")
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    if os.path.exists(SOCKET):
        os.unlink(SOCKET)
    listener = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    listener.bind(SOCKET)
    listener.listen(BACKLOG)
    listener.setblocking(False)
    loop = Loop()
    environ = {name: value for name, value in os.environ.items() if not name.startswith("OUTLAST_")}
    agent = start_agent(loop, Spawner(loop.reap), {**config, "env": {**environ, **config["env"]}})

    agent.handlers["statistics"] = _statistics

    def accept(_events: int) -> None:
        try:
            fd, _address = listener._accept()  # type: ignore[attr-defined]
        except OSError:
            return  # the other end has closed meanwhile
        Connection(agent, _socket.socket(fileno=fd))

    loop.add(listener.fileno(), READ, accept)
    os.write(started, b"+")
    os.close(started)
    loop.run()


def _statistics(connection: Connection, _request: dict[str, Any], _payload: bytes) -> None:
    """The usage of the whole machine: it is the sandbox."""
    with open("/proc/meminfo") as file:
        sizes = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in file}
    with open("/proc/stat") as file:
        ticks = sum(int(word) for word in file.readline().split()[1:4])
    connection.reply(
        memory_bytes=sizes["MemTotal"] - sizes["MemAvailable"],
        processes=sum(name.isdigit() for name in os.listdir("/proc")),
        cpu_s=ticks / os.sysconf("SC_CLK_TCK"),
    )


def _end_old_relays(nonce: str) -> None:
    """End the relays of earlier processes of this server; they have no readers. Other servers' may be in use. A nonce
    is `SERVER-PROCESS`, or in older versions one word."""
    server = nonce.partition("-")[0]
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue
        if b"outlast-relay" not in words or nonce.encode() in words:
            continue
        theirs = words[words.index(b"outlast-relay") - 1].decode()
        if "-" not in theirs or theirs.startswith(server + "-"):
            try:
                os.kill(int(name), signal.SIGKILL)
            except OSError:
                continue


def _dial(port: int) -> None:
    for family, address in ((_socket.AF_INET, "127.0.0.1"), (_socket.AF_INET6, "::1")):
        try:
            sock = _socket.socket(family, _socket.SOCK_STREAM)
            sock.connect((address, port))
        except OSError:
            continue
        _say(base64.b64encode(b"+"))
        _join(sock, ends=True)
        return
    _say(base64.b64encode(b"!"))


def _say(line: bytes) -> None:
    view = memoryview(line + b"\n")
    while view:
        view = view[os.write(1, view) :]


def _join(sock: _socket.socket, ends: bool = False) -> None:
    """Carry bytes both ways until the other side ends. With `ends` the end of descriptor 0 is passed on as well. The
    agent does not get it: it would take that as a disconnected client."""
    fd = sock.fileno()
    poll = select.poll()
    poll.register(0, select.POLLIN)
    poll.register(fd, select.POLLIN)
    rest = b""
    while True:
        for ready, _events in poll.poll():
            if ready == fd:
                data = sock.recv(CHUNK)
                if not data:
                    return
                _say(base64.b64encode(data))
                continue
            data = os.read(0, 1 << 18)
            if not data:
                poll.unregister(0)
                if ends:
                    sock.shutdown(_socket.SHUT_WR)
                continue
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                sock.sendall(base64.b64decode(line))


if __name__ == "__main__":
    main(sys.argv[1:])

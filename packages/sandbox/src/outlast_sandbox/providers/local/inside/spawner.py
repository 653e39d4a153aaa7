"""Starts a process inside the sandbox, and ends it with all its descendants."""

from __future__ import annotations

import errno
import itertools
import os
import time

TYPE_CHECKING = False  # importing `typing` would cost every sandbox 3 ms of its start
if TYPE_CHECKING:
    import signal
    from typing import Any, Callable, Optional
else:
    import _signal as signal  # `signal` would load `enum`

PR_SET_DUMPABLE = 4
OOM_SCORE = b"0"
OOM_SCORE_OF_CHILDREN = b"500"
MARK = "OUTLAST_PROCESS"
KILL_PASSES = 20
QUIET_PASSES = 2  # a scan of /proc is not atomic: a child may be read after its parent is gone
UNDECIDED_S = 0.002
MAX_DYING_S = 0.5
IGNORED_SIGNALS = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGALRM,
    signal.SIGVTALRM,
    signal.SIGPROF,
    signal.SIGXCPU,
    signal.SIGIO,
    signal.SIGPWR,
    signal.SIGTSTP,
    signal.SIGTTIN,
    signal.SIGTTOU,
)
DEFAULT_SIGNALS = (signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ, *IGNORED_SIGNALS)

_numbers = itertools.count(1)


class Spawner:
    """Starts processes; there is one, created before anything else of the agent.

    It hides the agent (no other process in the sandbox can read its memory or descriptors through /proc), and makes
    every process it starts a better OOM victim than the agent. When no process can be started, it ends the largest
    family of processes, as the kernel does when memory runs out: otherwise a fork bomb in the background would make the
    sandbox useless. Signals that code in the sandbox may send to the agent are ignored; the processes it starts have
    the default handlers. `reap` collects ended children, which count until then.
    """

    def __init__(self, reap: Callable[[], None]) -> None:
        self._reap = reap
        try:
            self._oom_score = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
        except OSError:
            self._oom_score = -1
        _prctl(PR_SET_DUMPABLE, 0)
        for number in IGNORED_SIGNALS:
            signal.signal(number, signal.SIG_IGN)

    def spawn(
        self,
        argv: list[str],
        env: dict[str, str],
        cwd: str,
        stdio: tuple[int, ...],
        *,
        program: str = "",
        terminal: str = "",
    ) -> Child:
        """Start `argv` (its first word a path, unless `program` is one) in a session of its own, with `stdio` as its
        descriptors from 0 on, or with `terminal`, a device, as 0 to 2 and as the session's controlling terminal.

        Raises OSError: no such program or folder, or no process can be started even after making room.
        """
        moves: list[tuple[Any, ...]] = [(os.POSIX_SPAWN_DUP2, fd, number) for number, fd in enumerate(stdio)]
        if terminal:
            moves = [(os.POSIX_SPAWN_OPEN, 0, terminal, os.O_RDWR, 0)]
            moves += [(os.POSIX_SPAWN_DUP2, 0, number) for number in (1, 2)]
        try:
            return self._spawn(program or argv[0], argv, env, cwd, moves)
        except OSError as error:
            if error.errno != errno.EAGAIN:
                raise
        ended = self.make_room(limit=0)
        child = self._spawn(program or argv[0], argv, env, cwd, moves)
        child.made_room = ended
        return child

    def make_room(self, limit: int) -> int:
        """When nearly `limit` processes run, end the largest family of them; return how many it had, else 0."""
        ended = _end_largest_family(limit * 9 // 10)
        self._reap()
        return ended

    def _spawn(
        self, program: str, argv: list[str], env: dict[str, str], cwd: str, moves: list[tuple[Any, ...]]
    ) -> Child:
        mark = str(next(_numbers))
        os.chdir(cwd)
        self._score(OOM_SCORE_OF_CHILDREN)
        try:
            pid = os.posix_spawn(
                program, argv, {**env, MARK: mark}, file_actions=moves, setsid=True, setsigdef=DEFAULT_SIGNALS
            )
        finally:
            self._score(OOM_SCORE)
            os.chdir("/")
        return Child(pid, f"{MARK}={mark}".encode())

    def _score(self, score: bytes) -> None:
        """Set the OOM score, which processes started meanwhile inherit; an unprivileged process may lower it back to
        its old value."""
        if self._oom_score >= 0:
            os.write(self._oom_score, score)


def _prctl(option: int, value: int) -> None:
    """Uses only the core of `ctypes`: loading all of it would cost every sandbox some ms of its start."""
    try:
        from _ctypes import FUNCFLAG_CDECL, CFuncPtr, dlopen, dlsym

        kind = type("_Function", (CFuncPtr,), {"_flags_": FUNCFLAG_CDECL})
        itself = dlopen(None, 2)  # type: ignore[arg-type]  # this program; 2: RTLD_NOW
        call = kind(dlsym(itself, "prctl"))
    except (ImportError, AttributeError, TypeError, OSError):
        import ctypes

        call = ctypes.CDLL(None).prctl
    call(option, value, 0, 0, 0)


class Child:
    """A started process. Its descendants are found by parent, by session, and, if they have left both, by a mark in
    their inherited environment."""

    def __init__(self, pid: int, mark: bytes) -> None:
        self.pid = pid
        self.made_room = 0  # processes that were ended so that this one could start
        self.ended = False  # set by the code that reaps it: from then on another process may have its pid
        self._mark = mark

    def kill_tree(self) -> None:
        """End it with all its descendants; after it has ended, the processes it left running. Stops them first, so that
        none can start another meanwhile, and returns once they are dead, or after 0.5 s.

        If that does not succeed (a fork bomb), all processes in the sandbox except the agent are ended.
        """
        stopped: set[int] = set()
        new: set[int] = set()
        quiet = 0
        for _ in range(KILL_PASSES):
            members, undecided = self._tree()
            new = members - stopped
            for pid in new:
                _signal(pid, signal.SIGSTOP)
            stopped |= new
            quiet = 0 if new else quiet + 1
            if undecided:
                time.sleep(UNDECIDED_S)
            elif quiet >= QUIET_PASSES:
                break
        if new:
            _signal(-1, signal.SIGKILL)
        victims = stopped if self.ended else stopped | {self.pid}
        for pid in victims:
            _signal(pid, signal.SIGKILL)
        deadline = time.monotonic() + MAX_DYING_S
        while any(_stat(str(pid)) for pid in victims) and time.monotonic() < deadline:
            time.sleep(UNDECIDED_S)

    def signal_tree(self, number: int) -> None:
        """Send a signal to it and to all its descendants that one scan finds."""
        for pid in self._tree()[0]:
            _signal(pid, number)

    def _tree(self) -> tuple[set[int], bool]:
        """(the processes found, whether there is an orphan that cannot be identified yet: during its exec it has no
        environment)."""
        agent = os.getpid()  # orphans are its children: it is process 1, or their subreaper where it is not
        parents: dict[int, int] = {}
        members = set() if self.ended else {self.pid}
        undecided = False
        for name in os.listdir("/proc"):
            facts = _stat(name) if name.isdigit() else None
            if facts is None:
                continue
            pid, (parent, session) = int(name), facts
            parents[pid] = parent
            if session == self.pid:
                members.add(pid)
            elif parent == agent and pid != 1:
                environment = _environment(name)
                undecided = undecided or environment in ([], [b""])
                if self._mark in environment:
                    members.add(pid)
        grown = True
        while grown:
            more = {pid for pid, parent in parents.items() if parent in members and pid not in members}
            members |= more
            grown = bool(more)
        members -= {1, agent}
        return {pid for pid in members if pid in parents}, undecided


def _end_largest_family(least: int) -> int:
    """End the processes that share one mark, or one session if they shed the mark, if they are at least `least`."""
    families: dict[tuple[int, bytes], int] = {}
    for name in os.listdir("/proc"):
        facts = _stat(name) if name.isdigit() and int(name) not in (1, os.getpid()) else None
        if facts is not None:
            marks = [word for word in _environment(name) if word.startswith(MARK.encode())]
            family = (0, marks[0]) if marks else (facts[1], b"unmarked")
            families[family] = families.get(family, 0) + 1
    if not families or sum(families.values()) < least:
        return 0
    (session, mark), count = max(families.items(), key=lambda item: item[1])
    child = Child(session, mark)
    child.ended = True
    child.kill_tree()
    return count


def _signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return


def _environment(name: str) -> list[bytes]:
    try:
        with open(f"/proc/{name}/environ", "rb") as file:
            return file.read().split(b"\0")
    except OSError:
        return []


def _stat(name: str) -> Optional[tuple[int, int]]:
    """(parent, session) of a process, or None when it is gone or already a zombie."""
    try:
        with open(f"/proc/{name}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return None if fields[0] in (b"Z", b"X") else (int(fields[1]), int(fields[3]))

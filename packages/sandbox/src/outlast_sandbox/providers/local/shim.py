"""The small process outside each sandbox that outlives the server.

Run as a script by the server's Python with `-I -S` (standard library only, and only the parts that load in about 2 ms).
It reads its plan, marshalled, from descriptor 0; makes the control group, builds the mounts when it is root, starts
bubblewrap with the agent inside, and then passes every connection on its socket from the server to the agent. When the
sandbox's first process ends, by itself or by a kill of the group, it removes group, socket and state file and exits.

First byte of a connection: `A`: pass it to the agent, and answer `A` once that is done. `W`: keep it open; it closes
when this sandbox ends. `K`: end the sandbox, and keep it open until then.
"""

import _ctypes  # `ctypes` would load for some ms
import _signal  # type: ignore[import-not-found]  # `signal` would load `enum`, some ms
import _socket
import marshal
import os
import select
import sys
import time

CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000
MS_BIND, MS_REC, MS_PRIVATE, MS_NOSUID, MS_NODEV = 0x1000, 0x4000, 0x40000, 2, 4
OPEN_TREE, MOVE_MOUNT, MOUNT_SETATTR = 428, 429, 442  # numbers of system calls, the same on every processor
OPEN_TREE_CLONE, AT_EMPTY_PATH, AT_FDCWD = 1, 0x1000, -100
MOVE_MOUNT_F_EMPTY_PATH, MOUNT_ATTR_IDMAP = 4, 0x100000
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 36, 38
SCM_RIGHTS = 1
STAGE = "/tmp"
AGENT_FD, SECCOMP_FD, INFO_FD, INFO_READER_FD, HIGH = 3, 4, 5, 6, 40
BACKLOG = 128


class _Int(_ctypes._SimpleCData):  # type: ignore[type-arg]
    _type_ = "i"


class _UnsignedLong(_ctypes._SimpleCData):  # type: ignore[type-arg]
    _type_ = "L"


class _Function(_ctypes.CFuncPtr):
    _flags_ = _ctypes.FUNCFLAG_CDECL | _ctypes.FUNCFLAG_USE_ERRNO
    _restype_ = _Int


def _libc(name: str) -> "_Function":
    itself = _ctypes.dlopen(None, 2)  # type: ignore[arg-type]  # this program; 2: RTLD_NOW
    return _Function(_ctypes.dlsym(itself, name))


def main() -> None:
    plan = _read_plan()
    os.chdir(plan["state_dir"])
    held = _hold_snapshot(plan["in_use"])
    _write_state(plan)
    listener = _listen()
    ours, theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
    group = plan["group_folders"]
    child, first = 0, -1
    # If bubblewrap is killed during its start, it leaves a process that waits for it for ever: this process inherits
    # it, to end it.
    _libc("prctl")(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        _make_group(group, plan["limit_files"])
        info_read, info_write = os.pipe()
        child = os.fork()
        if child == 0:
            _become_sandbox(plan, theirs.fileno(), (info_write, info_read), [listener.fileno(), ours.fileno()])
        theirs.close()
        os.close(info_write)
        # Joining the groups waits for the kernel, some 10 ms, and runs concurrently with the start of the agent. Until
        # the agent has its configuration it starts nothing, so no process in the sandbox ever runs outside the groups.
        # The first process joins first: bubblewrap ends with it, but it would wait for a bubblewrap that was killed
        # alone.
        number = _first_process(info_read)
        first = os.pidfd_open(number)
        _join_group(group, [number, child])
        ours.send(plan["agent_config"])
        if _wait_ready(ours, plan["start_timeout_s"]):
            os.write(1, b"ready\n")
            _serve(listener, ours, _Server(plan))
    except OSError as error:
        os.write(2, f"shim: {error}\n".encode())
    finally:
        _clean_up(group, child, first)
        if held >= 0:
            os.close(held)


def _read_plan() -> dict:  # type: ignore[type-arg]
    parts: list[bytes] = []
    while True:
        data = os.read(0, 1 << 16)
        if not data:
            return marshal.loads(b"".join(parts))  # type: ignore[no-any-return]
        parts.append(data)


def _hold_snapshot(path: str) -> int:
    """Mark the snapshot as in use while this process lives, so that no other process removes it."""
    if not path:
        return -1
    import fcntl  # only here: it loads a shared library

    fd = os.open(path, os.O_RDONLY)
    fcntl.flock(fd, fcntl.LOCK_SH)
    if not os.path.exists(path):  # removed while this process waited
        raise SystemExit("shim: the snapshot has been removed")
    os.utime(path)  # snapshots that no server uses any more are detected by age
    return fd


def _write_state(plan: dict) -> None:  # type: ignore[type-arg]
    """The server finds this sandbox again by pid and start time: together they identify one process uniquely."""
    with open("/proc/self/stat", "rb") as file:
        start_time = file.read().rpartition(b")")[2].split()[19].decode()
    text = plan["state_template"].replace("@pid@", str(os.getpid())).replace("@start_time@", start_time)
    with open("state.new", "w") as file:
        file.write(text)
    os.rename("state.new", "state.json")


def _listen() -> "_socket.socket":
    listener = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    listener.bind("socket")  # relative: the whole path may be longer than a socket address
    listener.listen(BACKLOG)
    listener.setblocking(False)
    return listener


def _make_group(folders: "list[str]", files: "list[tuple[str, str]]") -> None:
    for folder in folders:
        os.makedirs(folder, exist_ok=True)
    for path, value in files:
        try:
            fd = os.open(path, os.O_WRONLY)
        except OSError:
            continue  # optional files, such as swap limits on a kernel without swap accounting
        try:
            os.write(fd, value.encode())
        except OSError as error:
            os.write(2, f"shim: {path}: {error}\n".encode())
        finally:
            os.close(fd)


def _join_group(folders: "list[str]", pids: "list[int]") -> None:
    for folder in folders:
        for pid in pids:
            with open(folder + "/cgroup.procs", "w") as file:
                file.write(str(pid))


def _first_process(info: int) -> int:
    """The pid, as seen here, of the sandbox's first process, from the output of `bwrap --info-fd`. Raises OSError."""
    text = b""
    while b"}" not in text:
        data = os.read(info, 4096)
        if not data:
            raise OSError("bubblewrap did not start")
        text += data
    os.close(info)
    return int(text.partition(b'"child-pid":')[2].replace(b",", b" ").replace(b"}", b" ").split()[0])


def _become_sandbox(plan: dict, agent_fd: int, info: "tuple[int, int]", not_inside: "list[int]") -> None:  # type: ignore[type-arg]
    try:
        os.setsid()
        if plan["stage"]:
            _stage(plan["stage"], plan["layers"], plan["layer_bytes"], plan["uid"])
        _place_descriptors(plan["seccomp"], agent_fd, info, not_inside)
        if plan["uid"]:
            os.setgroups([])
            os.setresgid(plan["uid"], plan["uid"], plan["uid"])
            os.setresuid(plan["uid"], plan["uid"], plan["uid"])
        _libc("prctl")(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        os.execve(plan["argv"][0], plan["argv"], {})
    except BaseException as error:  # the child must never return into the shim
        os.write(2, f"start: {error}\n".encode())
    os._exit(126)


def _stage(sources: "list[str]", layers: "dict[int, tuple[str, bool]]", layer_bytes: int, uid: int) -> None:
    """As root: bind every source to a place that the sandbox's own user can reach, in a mount namespace of our own.
    Sources in `layers` get a writable layer, which stores changes in that folder below this one, or (empty) in memory.

    A data directory is usually closed to other users, including the sandbox's user.
    """
    _check(_libc("unshare")(CLONE_NEWNS), "unshare")
    _mount(None, "/", None, MS_REC | MS_PRIVATE)
    opened = [os.open(source, os.O_PATH) for source in sources]
    _mount("outlast", STAGE, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755")
    for number, fd in enumerate(opened):
        target = f"{STAGE}/{number}"
        if number in layers:
            folder, small = layers[number]
            _put_layer(fd, target, folder, small, layer_bytes, uid)
            continue
        if os.path.isdir(f"/proc/self/fd/{fd}"):
            os.mkdir(target)
        else:
            os.close(os.open(target, os.O_CREAT | os.O_WRONLY))
        _mount(f"/proc/self/fd/{fd}", target, None, MS_BIND | MS_REC)
        os.close(fd)


def _put_layer(fd: int, target: str, folder: str, small: bool, size_bytes: int, uid: int) -> None:
    """Mount the folder behind `fd` at `target` with a writable layer over it. Changes go to `folder`, on disk; without
    it, or if the kernel accepts no changes there, to memory. Without any layers, the folder is copied. `small` means
    that a copy is cheap: then files that cannot be mapped to `uid` are copied."""
    os.mkdir(target)
    below, copied = f"/proc/self/fd/{fd}", False
    if folder:
        _make_room(folder, uid)
    try:
        below = _map_owner(fd, f"{target}.lower", uid)
    except OSError as error:
        os.write(2, f"shim: the files below a layer belong to another user: {error}\n".encode())
        copied = bool(folder) and small
        if copied:
            _copy(fd, f"{folder}/upper", uid)
    lower = f"lowerdir={below}"
    changes = f"upperdir={folder}/upper,workdir={folder}/work"
    # Short-lived: so it never waits for the disk, and folders may be renamed.
    on_disk = [f"{lower},{changes},volatile,redirect_dir=on", f"{lower},{changes}"] if folder else []
    if not _try_layer(target, on_disk):
        room = f"{target}.layer"
        os.mkdir(room)
        _mount("outlast", room, "tmpfs", MS_NOSUID | MS_NODEV, f"mode=755,size={size_bytes}")
        _make_room(room, uid)
        options = f"{lower},upperdir={room}/upper,workdir={room}/work"
        if copied or not _try_layer(target, [options, options + ",userxattr"]):
            whole = f"{folder or room}/upper"
            if not copied:
                _copy(fd, whole, uid)
            _mount(whole, target, None, MS_BIND)
    os.close(fd)


def _copy(fd: int, target: str, uid: int) -> None:
    os.set_inheritable(fd, True)
    copy = ["/bin/cp", "-dR", "--preserve=mode,timestamps", f"/proc/self/fd/{fd}/.", target]
    for words in (copy, ["/bin/chown", "-hR", f"{uid}:{uid}", target]):
        os.waitpid(os.posix_spawn(words[0], words, {}), 0)


def _map_owner(fd: int, place: str, uid: int) -> str:
    """Mount the folder behind `fd` at `place`, with all its contents mapped to `uid`: programs change modes and times
    of existing files, which only owners may do. Raises OSError if this kernel or file system does not support it."""
    facts = os.stat(f"/proc/self/fd/{fd}")
    users = _user_namespace(f"{facts.st_uid} {uid} 1", f"{facts.st_gid} {uid} 1")
    try:
        empty, call = b"", _libc("syscall")
        tree = call(OPEN_TREE, fd, empty, AT_EMPTY_PATH | OPEN_TREE_CLONE)
        if tree < 0:
            _check(tree, "open_tree")
        attributes = MOUNT_ATTR_IDMAP.to_bytes(8, sys.byteorder) + bytes(16) + users.to_bytes(8, sys.byteorder)
        _check(call(MOUNT_SETATTR, tree, empty, AT_EMPTY_PATH, attributes, len(attributes)), "mount_setattr")
        os.mkdir(place)
        where = place.encode()
        _check(call(MOVE_MOUNT, tree, empty, AT_FDCWD, where, MOVE_MOUNT_F_EMPTY_PATH), "move_mount")
        os.close(tree)
    finally:
        os.close(users)
    return place


def _user_namespace(uids: str, gids: str) -> int:
    """A descriptor of a user namespace with these maps and without processes."""
    ready_read, ready_write = os.pipe()
    done_read, done_write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ready_read)
        os.close(done_write)
        if _libc("unshare")(CLONE_NEWUSER) == 0:
            os.write(ready_write, b"x")
            os.read(done_read, 1)
        os._exit(0)
    os.close(ready_write)
    os.close(done_read)
    try:
        if not os.read(ready_read, 1):
            raise OSError("no user namespace")
        for name, text in (("uid_map", uids), ("gid_map", gids)):
            with open(f"/proc/{child}/{name}", "w") as file:
                file.write(text)
        return os.open(f"/proc/{child}/ns/user", os.O_RDONLY)
    finally:
        os.close(ready_read)
        os.close(done_write)
        os.waitpid(child, 0)


def _make_room(folder: str, uid: int) -> None:
    for name in ("upper", "work"):
        os.makedirs(f"{folder}/{name}", 0o755)
        os.chown(f"{folder}/{name}", uid, uid)


def _try_layer(target: str, choices: "list[str]") -> bool:
    """True once the kernel accepts one of these options; False if it accepts none."""
    for options in choices:
        try:
            _mount("overlay", target, "overlay", MS_NOSUID | MS_NODEV, options)
            return True
        except OSError as error:
            os.write(2, f"shim: trying another layer or a copy: {error}\n".encode())
    return False


def _mount(source: "str | None", target: str, kind: "str | None", flags: int, options: "str | None" = None) -> None:
    words = [None if word is None else word.encode() for word in (source, target, kind, options)]
    _check(_libc("mount")(words[0], words[1], words[2], _UnsignedLong(flags), words[3]), f"mount {source} on {target}")


def _check(result: int, what: str) -> None:
    if result != 0:
        number = _ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def _place_descriptors(seccomp: bytes, agent_fd: int, info: "tuple[int, int]", not_inside: "list[int]") -> None:
    """bubblewrap also gets the reading end of its own information: without any reader, if the shim was killed, its
    write would end it, and leave the process behind that waits for it."""
    for fd in not_inside:
        os.close(fd)
    read_end, write_end = os.pipe()
    os.write(write_end, seccomp)  # a few KB: fits into the pipe
    os.close(write_end)
    # Moved away first: a descriptor may have the number that another must get.
    numbers = (AGENT_FD, SECCOMP_FD, INFO_FD, INFO_READER_FD)
    for number, fd in enumerate((agent_fd, read_end, *info)):
        os.dup2(fd, HIGH + number)
    for number, fd in enumerate(numbers):
        os.dup2(HIGH + number, fd)
    os.closerange(INFO_READER_FD + 1, 4096)
    null = os.open("/dev/null", os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)


def _wait_ready(agent: "_socket.socket", timeout_s: float) -> bool:
    agent.settimeout(timeout_s)
    try:
        return agent.recv(16) == b"ready"
    except OSError:
        return False


class _Server:
    """Detects a server; without one the sandbox is frozen, and later ended, each after its time."""

    def __init__(self, plan: dict) -> None:  # type: ignore[type-arg]
        self._plan = plan
        self._gone_at = -1.0
        self._frozen = False

    def look_again_s(self) -> float:
        look_after_s: float = self._plan["look_after_s"]
        if self._gone_at < 0:
            return look_after_s
        due = self._plan["end_after_s" if self._frozen else "freeze_after_s"]
        left_s: float = self._gone_at + due - time.monotonic()
        return min(look_after_s, max(left_s, 0.01))

    def is_over(self) -> bool:
        """Check if a server is back, and freeze or end the sandbox when due."""
        if not self._plan["presence"] or _is_held(self._plan["presence"]):
            self._gone_at, self._frozen = -1.0, False
            return False
        now = time.monotonic()
        if self._gone_at < 0:
            self._gone_at = now
        if now - self._gone_at >= self._plan["end_after_s"]:
            os.write(2, b"shim: no server returned\n")
            return True
        if now - self._gone_at >= self._plan["freeze_after_s"] and not self._frozen:
            self._frozen = True
            _freeze(self._plan["group_folders"])
        return False


def _is_held(path: str) -> bool:
    """True if a process holds the lock on that file, or if that is unknown."""
    import fcntl  # only here: a shared library of its own
    import struct

    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:
        return True
    try:
        query = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0)
        lock_type: int = struct.unpack("hhqqi4x", fcntl.fcntl(fd, fcntl.F_OFD_GETLK, query))[0]
        return lock_type != fcntl.F_UNLCK
    except OSError:
        return True
    finally:
        os.close(fd)


def _freeze(folders: "list[str]") -> None:
    """Freeze as the server does: the next server finds the time of the freeze, and thaws it."""
    if os.path.exists("frozen_since"):
        return
    with open("frozen_since", "w") as file:
        file.write(str(time.monotonic()))
    for name, value in (("cgroup.freeze", "1"), ("freezer.state", "FROZEN")):
        for folder in folders:
            if os.path.exists(f"{folder}/{name}"):
                try:
                    with open(f"{folder}/{name}", "w") as file:
                        file.write(value)
                    return
                except OSError:
                    continue
    os.unlink("frozen_since")  # it cannot be frozen here


def _serve(listener: "_socket.socket", agent: "_socket.socket", server: _Server) -> None:
    """Pass connections on until one of three events: the agent's socket closes, as it does when the sandbox's first
    process ends; the state file is gone, so the data directory was deleted and no server can find this sandbox again;
    or the server has been gone for too long."""
    poll = select.poll()
    poll.register(listener.fileno(), select.POLLIN)
    poll.register(agent.fileno(), select.POLLIN)
    fresh = {}
    watchers = []
    while True:
        ready = poll.poll(server.look_again_s() * 1000)
        if not ready and (not os.path.exists("state.json") or server.is_over()):
            return
        for fd, _events in ready:
            if fd == agent.fileno():
                return
            if fd == listener.fileno():
                accepted, _address = listener._accept()  # type: ignore[attr-defined]
                fresh[accepted] = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM, 0, accepted)
                poll.register(accepted, select.POLLIN)
            elif fd in fresh:
                poll.unregister(fd)
                connection = fresh.pop(fd)
                kind = _introduce(connection, agent)
                if kind in (b"W", b"K"):
                    watchers.append(connection)
                if kind == b"K":
                    return


def _introduce(connection: "_socket.socket", agent: "_socket.socket") -> bytes:
    """Read the first byte and act on it; the connection stays open only for `W` and `K`."""
    try:
        kind = connection.recv(1)
        if kind == b"A":
            descriptor = connection.fileno().to_bytes(4, sys.byteorder)
            agent.sendmsg([b"A"], [(_socket.SOL_SOCKET, SCM_RIGHTS, descriptor)])
            connection.send(b"A")  # data that the server writes now is queued for the agent, even a frozen one
    except OSError as error:
        os.write(2, f"shim: {error}\n".encode())
        kind = b""
    if kind not in (b"W", b"K"):
        connection.close()
    return kind


def _clean_up(folders: "list[str]", child: int, first: int) -> None:
    """End all remaining processes, collect the child, remove all traces except the log.

    The group lists the processes; without a group, the kernel ends a process namespace with its first process.
    """
    for _ in range(5000):
        left = _kill_group(folders)
        if first >= 0:
            try:
                _signal.pidfd_send_signal(first, _signal.SIGKILL)
            except OSError:
                first = -1
        if _end_children(child) and not left:
            break
        select.select([], [], [], 0.001)
    for folder in folders:
        try:
            os.rmdir(folder)
        except OSError as error:
            os.write(2, f"shim: {folder}: {error}\n".encode())
    for name in ("socket", "state.json"):
        if os.path.exists(name):
            os.unlink(name)


def _end_children(child: int) -> bool:
    """Kill and collect the children, including inherited ones. True if there are none left."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children") as file:
            pids = [int(word) for word in file.read().split()]
    except OSError:
        pids = [child] if child else []
    for pid in pids:
        try:
            os.kill(pid, 9)
        except OSError:
            continue
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return True
    return False


def _kill_group(folders: "list[str]") -> int:
    left = 0
    for folder in folders:
        try:
            with open(folder + "/cgroup.procs") as file:
                pids = [int(line) for line in file]
        except OSError:
            continue
        left += len(pids)
        for pid in pids:
            try:
                os.kill(pid, 9)
            except OSError:
                continue
        if pids and os.path.exists(folder + "/freezer.state"):
            with open(folder + "/freezer.state", "w") as file:
                file.write("THAWED")
        if pids and os.path.exists(folder + "/cgroup.freeze"):
            with open(folder + "/cgroup.freeze", "w") as file:
                file.write("0")
    return left


if __name__ == "__main__":
    main()

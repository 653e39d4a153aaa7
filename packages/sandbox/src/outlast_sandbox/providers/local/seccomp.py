"""The system call filter of a sandbox, as a BPF program that bubblewrap loads.

A deny list in addition to namespaces and dropped capabilities: the calls through which kernel bugs are usually
exploited (io_uring, bpf, keys, userfaultfd), those that create a namespace or a mount, and those that inspect other
processes. Denied calls fail with EPERM; `clone3` with ENOSYS, so that libraries fall back to `clone`, whose flags a
filter can read. Sockets are limited to Unix, IPv4, IPv6 and netlink for routing: AF_VSOCK would reach a virtual
machine's host past the network namespace. The agent, process 1, has the same user as the code around it: so only a
process itself may change its resource limits, and no other process can lower the priority of process 1.
"""

import errno
import platform
import struct
from typing import Final

# linux/bpf_common.h, linux/seccomp.h, linux/audit.h
_LOAD: Final = 0x20  # BPF_LD | BPF_W | BPF_ABS
_EQUAL: Final = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
_AT_LEAST: Final = 0x35  # BPF_JMP | BPF_JGE | BPF_K
_ANY_BIT: Final = 0x45  # BPF_JMP | BPF_JSET | BPF_K
_RETURN: Final = 0x06  # BPF_RET | BPF_K
_ALLOW: Final = 0x7FFF0000
_ERRNO: Final = 0x00050000
_KILL_PROCESS: Final = 0x80000000
_NUMBER_AT, _ARCH_AT = 0, 4
_X32_BIT: Final = 0x40000000

_NEW_NAMESPACES: Final = 0x7E020080  # CLONE_NEW{NS,CGROUP,UTS,IPC,USER,PID,NET,TIME}
_TERMINAL_INJECTION: Final = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX
_SOCKET_FAMILIES: Final = (1, 2, 10)  # AF_UNIX, AF_INET, AF_INET6
_NETLINK, _NETLINK_ROUTE = 16, 0
_AGENT: Final = 1
_PRIO_USER: Final = 2

# name: (x86_64, aarch64), the process is the first argument
_OF_PROCESSES: Final[dict[str, tuple[int, int]]] = {
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "sched_setaffinity": (203, 122),
    "sched_setattr": (314, 274),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
}

# name: (x86_64, aarch64); None if the architecture has no such call
_DENIED: Final[dict[str, tuple[int | None, int | None]]] = {
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "bpf": (321, 280),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "userfaultfd": (323, 282),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "unshare": (272, 97),
    "setns": (308, 268),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    "perf_event_open": (298, 241),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "adjtimex": (159, 171),
    "clock_adjtime": (305, 266),
    "syslog": (103, 116),
    "vhangup": (153, 58),
    "lookup_dcookie": (212, 18),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    "iopl": (172, None),
    "ioperm": (173, None),
    "modify_ldt": (154, None),
    "uselib": (134, None),
    "nfsservctl": (180, 42),
}
# architecture: (audit value, column above, clone, clone3, socket, ioctl, prlimit64, setpriority)
_ARCHITECTURES: Final = {
    "x86_64": (0xC000003E, 0, 56, 435, 41, 16, 302, 141),
    "aarch64": (0xC00000B7, 1, 220, 435, 198, 29, 261, 140),
}


class UnknownArchitecture(Exception):
    """There is no table of system call numbers for this processor."""


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("<HBBI", code, if_true, if_false, value)


def _refuse(number: int) -> bytes:
    return _step(_RETURN, _ERRNO | number)


def _argument(index: int) -> bytes:
    """Load the low half of an argument: flags and families fit into it, and the kernel reads only that half for these
    calls."""
    return _step(_LOAD, 16 + 8 * index)


def _block(call: int, body: list[bytes]) -> list[bytes]:
    """`body` for one system call, skipped for all others; the number must be loaded, and `body` must return."""
    return [_step(_EQUAL, call, 0, len(body)), *body]


def filter_program(machine: str | None = None) -> bytes:
    """The program for this processor (`x86_64` or `aarch64`), as `bwrap --seccomp` reads it. Raises
    UnknownArchitecture."""
    name = machine or platform.machine()
    if name not in _ARCHITECTURES:
        raise UnknownArchitecture(name)
    audit, column, clone, clone3, socket, ioctl, prlimit, setpriority = _ARCHITECTURES[name]
    program = [_step(_LOAD, _ARCH_AT), _step(_EQUAL, audit, 1, 0), _step(_RETURN, _KILL_PROCESS)]
    program.append(_step(_LOAD, _NUMBER_AT))
    if name == "x86_64":
        program += [_step(_AT_LEAST, _X32_BIT, 0, 1), _refuse(errno.ENOSYS)]
    allow = _step(_RETURN, _ALLOW)
    program += _block(clone3, [_refuse(errno.ENOSYS)])
    program += _block(clone, [_argument(0), _step(_ANY_BIT, _NEW_NAMESPACES, 0, 1), _refuse(errno.EPERM), allow])
    # Each family jumps to the last step, which allows; netlink goes on to its protocol.
    families = [_step(_EQUAL, family, len(_SOCKET_FAMILIES) - i + 3, 0) for i, family in enumerate(_SOCKET_FAMILIES)]
    netlink = [_step(_EQUAL, _NETLINK, 0, 2), _argument(2), _step(_EQUAL, _NETLINK_ROUTE, 1, 0)]
    program += _block(socket, [_argument(0), *families, *netlink, _refuse(errno.EAFNOSUPPORT), allow])
    eperm = _refuse(errno.EPERM)
    program += _block(prlimit, [_argument(0), _step(_EQUAL, 0, 1, 0), eperm, allow])
    by_user = [_argument(0), _step(_EQUAL, _PRIO_USER, 2, 0)]
    program += _block(setpriority, [*by_user, _argument(1), _step(_EQUAL, _AGENT, 0, 1), eperm, allow])
    for numbers in _OF_PROCESSES.values():
        program += _block(numbers[column], [_argument(0), _step(_EQUAL, _AGENT, 0, 1), eperm, allow])
    requests = [
        _step(_EQUAL, request, len(_TERMINAL_INJECTION) - i, 0) for i, request in enumerate(_TERMINAL_INJECTION)
    ]
    program += _block(ioctl, [_argument(1), *requests, allow, _refuse(errno.EPERM)])
    for number in sorted(n for n in (numbers[column] for numbers in _DENIED.values()) if n is not None):
        program += _block(number, [_refuse(errno.EPERM)])
    return b"".join([*program, allow])

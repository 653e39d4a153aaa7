"""The filter, run by a small interpreter of its own: this call, that answer."""

from __future__ import annotations

import errno
import struct

import pytest

from outlast_sandbox.providers.local.seccomp import UnknownArchitecture, filter_program

ALLOW = 0x7FFF0000
KILL = 0x80000000
AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}


def answer(machine: str, call: int, *arguments: int, audit: int | None = None) -> int:
    """What the kernel would return for this call."""
    words = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("<IIQ6Q", call, AUDIT[machine] if audit is None else audit, 0, *words)
    steps = list(struct.iter_unpack("<HBBI", filter_program(machine)))
    at, value = 0, 0
    while True:
        code, if_true, if_false, constant = steps[at]
        at += 1
        if code == 0x20:
            (value,) = struct.unpack_from("<I", data, constant)
        elif code == 0x06:
            return int(constant)
        else:
            holds = {0x15: value == constant, 0x35: value >= constant, 0x45: bool(value & constant)}[code]
            at += if_true if holds else if_false


def refused(number: int) -> int:
    return 0x00050000 | number


@pytest.mark.parametrize(
    ("machine", "call", "arguments", "expected"),
    [
        ("x86_64", 0, (), ALLOW),
        ("x86_64", 101, (), refused(errno.EPERM)),
        ("x86_64", 425, (), refused(errno.EPERM)),
        ("x86_64", 435, (), refused(errno.ENOSYS)),
        ("x86_64", 56, (0x11,), ALLOW),
        ("x86_64", 56, (0x10000011,), refused(errno.EPERM)),
        ("x86_64", 56, (0x00020000,), refused(errno.EPERM)),
        ("x86_64", 41, (1, 1), ALLOW),
        ("x86_64", 41, (2, 1), ALLOW),
        ("x86_64", 41, (10, 1), ALLOW),
        ("x86_64", 41, (16, 3), ALLOW),
        ("x86_64", 41, (16, 3, 0), ALLOW),
        ("x86_64", 41, (16, 3, 12), refused(errno.EAFNOSUPPORT)),
        ("x86_64", 302, (0, 7), ALLOW),
        ("x86_64", 302, (1, 7), refused(errno.EPERM)),
        ("x86_64", 302, (4711, 7), refused(errno.EPERM)),
        ("x86_64", 141, (0, 0, 19), ALLOW),
        ("x86_64", 141, (0, 1, 19), refused(errno.EPERM)),
        ("x86_64", 141, (2, 0, 19), refused(errno.EPERM)),
        ("x86_64", 203, (0, 8), ALLOW),
        ("x86_64", 203, (1, 8), refused(errno.EPERM)),
        ("x86_64", 314, (1, 8), refused(errno.EPERM)),
        ("aarch64", 261, (1, 7), refused(errno.EPERM)),
        ("aarch64", 198, (16, 3, 4), refused(errno.EAFNOSUPPORT)),
        ("x86_64", 41, (40, 1), refused(errno.EAFNOSUPPORT)),
        ("x86_64", 16, (0, 0x5413), ALLOW),
        ("x86_64", 16, (0, 0x5412), refused(errno.EPERM)),
        ("x86_64", 0x40000000 + 101, (), refused(errno.ENOSYS)),
        ("aarch64", 63, (), ALLOW),
        ("aarch64", 117, (), refused(errno.EPERM)),
        ("aarch64", 220, (0x10000011,), refused(errno.EPERM)),
        ("aarch64", 198, (40,), refused(errno.EAFNOSUPPORT)),
        ("aarch64", 435, (), refused(errno.ENOSYS)),
    ],
)
def test_calls_are_answered(machine: str, call: int, arguments: tuple[int, ...], expected: int) -> None:
    assert answer(machine, call, *arguments) == expected


def test_calls_of_another_architecture_end_the_process() -> None:
    assert answer("x86_64", 1, audit=0x40000003) == KILL


def test_an_unknown_processor_is_refused_instead_of_left_unfiltered() -> None:
    with pytest.raises(UnknownArchitecture):
        filter_program("riscv64")


def test_every_jump_lands_inside_the_program() -> None:
    for machine in AUDIT:
        for call in range(500):
            for argument in (0, 1, 40, 0x7E020080, 0x5412):
                answer(machine, call, argument, argument)

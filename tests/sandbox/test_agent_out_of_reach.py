"""Code inside a sandbox cannot take the agent's descriptors, signal it, slow it, or spend the memory that it needs."""

from __future__ import annotations

import itertools
import os
import signal

import pytest

from outlast_sandbox.errors import SandboxLost
from outlast_sandbox.interface import Command, Sandbox, SandboxProvider
from outlast_sandbox.providers.local.launch import temporary_bytes
from outlast_sandbox.providers.local.sandbox import LocalSandbox
from tests.sandbox.conftest import LIMITS

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(180)]
_numbers = itertools.count(1)
MEBIBYTE = 1024 * 1024
HOG = "x = []\nwhile True: x.append(bytearray(10_000_000))"
CALL = """
import ctypes, errno, sys
libc = ctypes.CDLL(None, use_errno=True)
result = libc.syscall(*[ctypes.c_long(int(word)) for word in sys.argv[1:]])
print("allowed" if result >= 0 else errno.errorcode[ctypes.get_errno()])
"""


@pytest.fixture(params=["local", "docker"])
def provider(request: pytest.FixtureRequest) -> SandboxProvider:
    """Those whose agent shares this machine's kernel."""
    made: SandboxProvider = request.getfixturevalue(request.param)
    return made


@pytest.fixture
def machine(sandbox: Sandbox) -> Sandbox:
    return sandbox


async def run(machine: Sandbox, script: str) -> str:
    return (await machine.run(Command(f"eff_{next(_numbers)}", 1, script, timeout_s=60))).output.strip()


async def test_the_limits_of_the_agent_cannot_be_lowered(machine: Sandbox) -> None:
    """`prlimit` on process 1 used to take its descriptors away: every later command failed, also after a restart."""
    lower = "import resource; resource.prlimit(1, resource.RLIMIT_NOFILE, (3, 3))"
    assert "not permitted" in await run(machine, f'python3 -c "{lower}" 2>&1')
    own = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)); print('fine')"
    assert await run(machine, f'python3 -c "{own}"') == "fine"
    assert await run(machine, "echo alive") == "alive"


async def test_no_signal_ends_or_stops_the_agent(machine: Sandbox) -> None:
    numbers = " ".join(str(int(number)) for number in signal.valid_signals())
    await run(machine, f"for n in {numbers}; do kill -$n 1; done 2>/dev/null; true")
    assert await run(machine, "echo alive") == "alive"
    await run(machine, "pkill -INT python3; pkill -TERM python3; true")
    assert await run(machine, "echo alive") == "alive"
    await run(machine, "kill -KILL -1")
    assert await run(machine, "echo alive") == "alive"


async def test_commands_do_not_inherit_that_the_agent_ignores_signals(machine: Sandbox) -> None:
    script = "import signal as s; print([n for n in s.valid_signals() if s.getsignal(n) is s.SIG_IGN])"
    ignored = await run(machine, f'python3 -c "{script}"')
    python_itself = [signal.SIGPIPE, signal.SIGXFSZ]
    assert ignored == str([number for number in signal.valid_signals() if number in python_itself])


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("sched_setaffinity of the agent", "203 1 8 0"),
        ("sched_setscheduler of the agent", "144 1 0 0"),
        ("setpriority of the agent", "141 0 1 19"),
        ("setpriority of the user", "141 2 0 19"),
    ],
)
async def test_the_agent_cannot_be_slowed_down(machine: Sandbox, name: str, words: str) -> None:
    if os.uname().machine != "x86_64":
        pytest.skip("the numbers are those of x86_64")
    await machine.write_files([("call.py", CALL.encode())])
    assert await run(machine, f"python3 call.py {words}") == "EPERM", name


async def test_folders_in_memory_hold_less_than_the_memory(machine: Sandbox) -> None:
    """/tmp and /dev/shm used to be as large as the disk: filling one left the agent without memory, which ended it."""
    fill = "for n in $(seq 80); do head -c 40M /dev/zero > %s/fill$n || break; done 2>&1; du -sm %s"
    for folder in ("/dev/shm", "/tmp"):
        said = await run(machine, fill % (folder, folder))
        assert "No space left" in said, folder
        assert int(said.split()[-2]) <= LIMITS.memory_bytes // 2 // MEBIBYTE
    assert await run(machine, "echo alive") == "alive"
    for folder in ("$HOME", "/dev"):
        await run(machine, fill % (folder, folder))
    await run(machine, f"python3 -c '{HOG}'; true")
    assert await run(machine, "echo alive") == "alive"


def test_what_lies_in_memory_leaves_an_eighth_of_it_at_least() -> None:
    for memory in (64 * MEBIBYTE, LIMITS.memory_bytes, 64 * 1024 * MEBIBYTE):
        shares = temporary_bytes(memory)
        assert max(shares.tmp, shares.shm) <= memory // 2
        assert shares.tmp + shares.shm + shares.home + shares.layer <= memory * 7 // 8


async def test_only_routing_is_asked_of_the_kernel_over_netlink(machine: Sandbox) -> None:
    script = """
import socket
for protocol in (0, 4, 9, 12, 15, 16):
    try:
        socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol).close()
        print(protocol, "allowed")
    except OSError as error:
        print(protocol, "refused")
"""
    await machine.write_files([("netlink.py", script.encode())])
    said = (await run(machine, "python3 netlink.py")).splitlines()
    assert said == ["0 allowed", *[f"{n} refused" for n in (4, 9, 12, 15, 16)]]


async def test_the_kernels_configuration_and_start_are_not_told(box: LocalSandbox) -> None:
    assert await run(box, "cat /proc/config.gz /proc/cmdline 2>/dev/null | wc -c") == "0"


async def test_a_lost_agent_is_said(machine: Sandbox) -> None:
    await machine.kill()
    with pytest.raises(SandboxLost):
        await run(machine, "echo gone")

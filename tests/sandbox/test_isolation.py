"""What code inside a sandbox must not reach."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from outlast_sandbox.errors import PathRefused
from outlast_sandbox.interface import Command
from outlast_sandbox.providers.local.launch import find_powers
from outlast_sandbox.providers.local.sandbox import LocalSandbox

pytestmark = pytest.mark.sandbox

CALLS = """
import ctypes, errno, sys
libc = ctypes.CDLL(None, use_errno=True)
number, *arguments = [int(word) for word in sys.argv[1:]]
result = libc.syscall(number, *[ctypes.c_long(a) for a in arguments])
print("allowed" if result >= 0 else errno.errorcode[ctypes.get_errno()])
"""


async def run(box: LocalSandbox, script: str) -> str:
    run.count += 1  # type: ignore[attr-defined]
    return (await box.run(Command(f"eff_{run.count}", 1, script))).output.strip()  # type: ignore[attr-defined]


run.count = 0  # type: ignore[attr-defined]


async def test_only_the_loopback_device_exists_and_nothing_outside_answers(box: LocalSandbox) -> None:
    assert await run(box, "ls /proc/sys/net/ipv4/conf | grep -v -e all -e default") == "lo"
    connect = "import socket; s = socket.socket(); s.settimeout(2); print(s.connect_ex(('169.254.169.254', 80)))"
    assert await run(box, f'python3 -c "{connect}"') == "101"  # ENETUNREACH
    assert "Name or service not known" in await run(box, "getent hosts example.com || echo Name or service not known")


@pytest.mark.parametrize("path", ["/etc/shadow", "/root", "/home/user/../../root/.ssh", "/var/lib", "/sys/fs", "/boot"])
async def test_the_hosts_files_are_not_there(box: LocalSandbox, path: str) -> None:
    assert "No such file" in await run(box, f"ls {path}")


async def test_the_hosts_other_users_are_unknown(box: LocalSandbox) -> None:
    assert await run(box, "cut -d: -f1 /etc/passwd | tr '\\n' ' '") == "root user nobody"
    assert await run(box, "id -u") == "1000"


async def test_nothing_of_the_servers_environment_is_visible(
    box: LocalSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OUTLAST_TEST_SECRET", "leaked")
    names = await run(box, "env; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'")
    assert "leaked" not in names
    assert "GREETING=hello" in names
    assert "VIRTUAL_ENV" not in names


async def test_no_process_of_the_host_is_visible(box: LocalSandbox) -> None:
    assert int(await run(box, "ls -d /proc/[0-9]* | wc -l")) < 8
    assert str(os.getpid()) not in (await run(box, "ps -eo pid,args")).split("\n")[-1]


async def test_the_root_is_read_only_and_the_workspace_is_not(box: LocalSandbox) -> None:
    for path in ("/usr/x", "/etc/x", "/opt/outlast/inside/x", "/x", "/run/x"):
        assert "denied" in (answer := await run(box, f"touch {path}")) or "Read-only" in answer
    assert await run(box, "touch /workspace/x /tmp/x /home/user/x && echo fine") == "fine"


async def test_the_kernels_switches_and_memory_are_out_of_reach(box: LocalSandbox) -> None:
    for path in ("sys/kernel/core_pattern", "sysrq-trigger", "sys/vm/drop_caches", "self/uid_map", "1/oom_score_adj"):
        answer = await run(box, f"echo 1 > /proc/{path} && echo written")
        assert "written" not in answer, path
    for path in ("kcore", "kmsg", "1/mem", "1/maps", "1/root", "keys"):
        assert await run(box, f"head -c 1 /proc/{path} 2>/dev/null | wc -c") == "0", path
    assert await run(box, "ls /sys /dev/mem /dev/kmsg /dev/sda /dev/vda /dev/kvm 2>/dev/null | wc -l") == "0"


@pytest.mark.parametrize(
    ("name", "words", "answer"),
    [
        ("mount", "165 0 0 0 0 0", "EPERM"),
        ("unshare a user namespace", "272 268435456", "EPERM"),
        ("setns", "308 0 0", "EPERM"),
        ("ptrace", "101 16 1 0 0", "EPERM"),
        ("bpf", "321 0 0 0", "EPERM"),
        ("io_uring_setup", "425 1 0", "EPERM"),
        ("keyctl", "250 0 0 0 0 0", "EPERM"),
        ("userfaultfd", "323 0", "EPERM"),
        ("clone3", "435 0 0", "ENOSYS"),
        ("clone with a new user namespace", "56 268435473 0 0 0 0", "EPERM"),
        ("a virtual machine socket", "41 40 1 0", "EAFNOSUPPORT"),
        ("a packet socket", "41 17 3 0", "EAFNOSUPPORT"),
        ("process_vm_readv of the agent", "310 1 0 0 0 0 0", "EPERM"),
        ("getpid, which is allowed", "39", "allowed"),
    ],
)
async def test_dangerous_system_calls_are_refused(box: LocalSandbox, name: str, words: str, answer: str) -> None:
    if os.uname().machine != "x86_64":
        pytest.skip("the numbers are those of x86_64")
    await box.write_files([("calls.py", CALLS.encode())])
    assert await run(box, f"python3 calls.py {words}") == answer, name


async def test_no_capability_is_left_and_none_can_be_gained(box: LocalSandbox) -> None:
    status = await run(box, "grep -e CapEff -e CapBnd -e NoNewPrivs -e '^Seccomp:' /proc/self/status")
    facts = dict(line.split(":\t") for line in status.splitlines())
    assert facts == {"CapEff": "0" * 16, "CapBnd": "0" * 16, "NoNewPrivs": "1", "Seccomp": "2"}
    assert "unshare failed" in await run(box, "unshare -Ur true")


async def test_the_agent_cannot_be_read_changed_or_ended(box: LocalSandbox) -> None:
    answers = await run(box, "ls /proc/1/fd; cat /proc/1/environ; kill -9 1; kill -STOP 1; : > /proc/1/mem")
    assert answers.count("denied") >= 3
    assert await run(box, "echo alive") == "alive"


async def test_planted_symlinks_do_not_lead_out_of_the_workspace(box: LocalSandbox, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the host's")
    await run(box, f"ln -s {secret} a; ln -s ../../../../..{secret} b; ln -s / root; ln -s /etc etc; ln -s loop loop")
    for path in ("a", "b", f"root{secret}", "etc/passwd", "loop"):
        with pytest.raises(PathRefused):
            await box.read_file(path, 100)
    for path in ("a", "b", "etc/x", "root/tmp/x"):
        with pytest.raises(PathRefused):
            await box.write_files([(path, b"overwritten")])
    with pytest.raises(PathRefused):
        await box.list_files("etc")
    assert secret.read_text() == "the host's"


async def test_a_symlink_within_the_workspace_is_followed(box: LocalSandbox) -> None:
    await run(box, "mkdir real; echo text > real/file; ln -s real link; ln -s real/file file")
    assert await box.read_file("link/file", 10) == b"text\n"
    await box.write_files([("file", b"new")])
    assert await box.read_file("real/file", 10) == b"new"


async def test_pipes_and_devices_are_not_read_as_files(box: LocalSandbox) -> None:
    await run(box, "mkfifo pipe")
    with pytest.raises(PathRefused):
        await box.read_file("pipe", 10)


async def test_each_workspace_belongs_to_a_user_of_its_own(box: LocalSandbox, tmp_path: Path) -> None:
    if not find_powers().own_user:
        pytest.skip("the server may not give sandboxes users of their own here")
    await run(box, "touch mine")
    assert (tmp_path / "workspace" / "mine").stat().st_uid >= 1 << 16

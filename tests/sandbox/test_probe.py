"""Where sandboxes cannot be isolated they are refused, with what to do; never run without isolation."""

from __future__ import annotations

import pytest

from outlast_sandbox.errors import SandboxIsolationMissing, SandboxUnavailable
from outlast_sandbox.interface import SandboxSpec
from outlast_sandbox.providers.local import launch, probe
from outlast_sandbox.providers.local.cgroups import NOTES, Layout
from outlast_sandbox.providers.local.launch import Powers
from outlast_sandbox.providers.local.provider import LocalProvider
from tests.sandbox.conftest import group_folders


async def test_without_bubblewrap_the_fix_is_to_install_it(
    local: LocalProvider, spec: SandboxSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "BWRAP", "/usr/bin/no-bwrap-here")
    report = await local.probe()
    assert not report.ok
    assert report.isolation == "none"
    assert "apt install bubblewrap" in report.fixes[0]
    with pytest.raises(SandboxIsolationMissing, match="not installed"):
        await local.create(spec)


@pytest.mark.sandbox
async def test_where_bubblewrap_fails_the_fixes_are_named_and_nothing_is_left(
    local: LocalProvider, spec: SandboxSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "BWRAP", "/bin/false")
    before = group_folders()
    report = await local.probe()
    assert not report.ok
    assert report.fixes
    with pytest.raises(SandboxUnavailable) as caught:
        await local.create(spec)
    assert "outlast doctor" in caught.value.hint
    assert group_folders() == before
    assert await local.list_refs() == []


async def test_an_unknown_processor_is_refused(local: LocalProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    report = await local.probe()
    assert not report.ok
    assert "riscv64" in report.details[0]


def test_limits_that_do_not_hold_are_said() -> None:
    report = probe.success(Layout((), tuple(NOTES.values())), Powers(False, (0, 0)), 50)
    assert report.ok
    text = " ".join(report.details)
    assert "memory limit applies to each process separately" in text
    assert "CPU limit is not enforced" in text
    assert "cannot be frozen" in text


@pytest.mark.parametrize(
    ("marks", "words"),
    [
        ({"/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1"}, "apparmor_parser"),
        ({"/proc/sys/kernel/unprivileged_userns_clone": "0"}, "sysctl"),
        ({"/proc/sys/user/max_user_namespaces": "0"}, "sysctl"),
    ],
)
def test_the_fix_fits_the_machine(marks: dict[str, str], words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "_reads", marks.get)
    monkeypatch.setattr(probe, "in_container", lambda: False)
    report = probe.failure("refused")
    assert len(report.fixes) == 1
    assert words in report.fixes[0]
    assert "refused" in report.details[0]


def test_in_a_container_its_flags_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "in_container", lambda: True)
    assert "seccomp=unconfined" in probe.failure("refused").fixes[0]

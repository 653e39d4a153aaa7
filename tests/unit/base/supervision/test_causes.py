"""What an exception was about."""

from __future__ import annotations

import errno

from outlast.base.errors import SandboxLost, StorageUnavailable
from outlast.base.supervision.causes import cause_of, described, is_of_storage, leaves


def test_groups_in_groups_are_unwrapped() -> None:
    lost, bug = SandboxLost("gone"), KeyError("x")
    group = ExceptionGroup("outer", [ExceptionGroup("inner", [lost]), bug])
    assert list(leaves(group)) == [lost, bug]
    assert cause_of(group) is bug, "a fault says more than an error of ours"
    assert cause_of(ExceptionGroup("outer", [lost])) is lost


def test_a_group_nested_very_deep_is_unwrapped_too() -> None:
    error: Exception = ValueError("x")
    for _ in range(5_000):
        error = ExceptionGroup("more", [error])
    assert repr(cause_of(error)) == "ValueError('x')"


def test_what_an_exception_says_of_data_is_not_repeated() -> None:
    assert described(ValueError("the password is swordfish")) == (
        "internal_error",
        "ValueError; the server's log has the traceback",
    )
    assert described(OSError(errno.ENOSPC, "No space left on device", "/secret/path")) == (
        "os_error",
        "OSError: No space left on device",
    )
    assert described(SandboxLost("the sandbox sbx_1 is gone")) == ("sandbox_lost", "the sandbox sbx_1 is gone")


def test_trouble_of_the_storage_is_found_in_a_group() -> None:
    assert is_of_storage(ExceptionGroup("x", [KeyError("y"), StorageUnavailable("no")]))
    assert not is_of_storage(SandboxLost("gone"))

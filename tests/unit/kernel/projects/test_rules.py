"""The table of roles and rights."""

from __future__ import annotations

import pytest

from outlast.kernel.projects.rules import NEEDED, Right, Role, allows, leaves_an_owner


@pytest.mark.parametrize(
    ("role", "rights"),
    [
        (Role.VIEWER, {Right.READ}),
        (Role.EDITOR, {Right.READ, Right.EDIT}),
        (Role.OWNER, {Right.READ, Right.EDIT, Right.OWN}),
    ],
)
def test_what_each_role_may_do(role: Role, rights: set[Right]) -> None:
    assert {right for right in Right if allows(role, right)} == rights


def test_the_role_named_as_needed_is_the_smallest_that_suffices() -> None:
    for right, role in NEEDED.items():
        assert allows(role, right)
        smaller = list(reversed(Role))[: list(reversed(Role)).index(role)]
        assert not any(allows(lower, right) for lower in smaller)


@pytest.mark.parametrize(
    ("owners", "before", "after", "fine"),
    [
        (1, Role.OWNER, Role.EDITOR, False),
        (1, Role.OWNER, None, False),
        (1, Role.OWNER, Role.OWNER, True),
        (2, Role.OWNER, None, True),
        (1, Role.EDITOR, None, True),
        (1, Role.VIEWER, Role.OWNER, True),
    ],
)
def test_a_project_keeps_an_owner(owners: int, before: Role, after: Role | None, fine: bool) -> None:
    assert leaves_an_owner(owners, before, after) is fine

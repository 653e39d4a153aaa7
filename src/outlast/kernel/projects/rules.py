"""The rights of each role: the whole table."""

from enum import StrEnum
from typing import Final

from outlast.base.errors import MalformedInput


class Role(StrEnum):
    OWNER = "owner"
    EDITOR = "editor"
    VIEWER = "viewer"


class Right(StrEnum):
    READ = "read"  # see, follow, search, open attachments
    EDIT = "edit"  # write messages, start and cancel runs, fork, archive, upload
    OWN = "own"  # members, invitations, deletion


RIGHTS: Final = {
    Role.VIEWER: frozenset({Right.READ}),
    Role.EDITOR: frozenset({Right.READ, Right.EDIT}),
    Role.OWNER: frozenset({Right.READ, Right.EDIT, Right.OWN}),
}
NEEDED: Final = {Right.READ: Role.VIEWER, Right.EDIT: Role.EDITOR, Right.OWN: Role.OWNER}


def allows(role: Role, right: Right) -> bool:
    """True if a member with this role has this right."""
    return right in RIGHTS[role]


def leaves_an_administrator(administrators: int, before: bool, after: bool) -> bool:
    """True if the server still has an administrator after one user changes from `before` to `after`."""
    return not before or after or administrators > 1


def leaves_an_owner(owners: int, before: Role, after: Role | None) -> bool:
    """True if a project still has an owner after one member changes from `before` to `after` (None if removed)."""
    return before is not Role.OWNER or after is Role.OWNER or owners > 1


def checked_role(role: str) -> Role:
    """A role from outside. Raises `MalformedInput`."""
    try:
        return Role(role)
    except ValueError:
        raise MalformedInput("A role must be owner, editor or viewer.", field="role") from None

"""Changes of issues. Pure: they take a book, a request body and the time, and return the new book and issue."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Any, Final

from outlast_demo.tracker.issue_lists import handle_of
from outlast_demo.tracker.issues import CLOSED, ME, PRIORITIES, STATUSES, Book, Comment, Issue
from outlast_demo.tracker.problems import Refused, no_such, unknown_value

FIELDS: Final = ("title", "description", "status", "priority", "assigned_to", "labels", "due_on")
TITLE_CHARS: Final = 200
TEXT_CHARS: Final = 5_000
MAX_ISSUES: Final = 1_000
MAX_COMMENTS: Final = 100
MAX_LABELS: Final = 10
_LABEL: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,30}\Z")
Changed = tuple[Book, Issue]


def add_issue(book: Book, wish: Mapping[str, Any], now: str) -> Changed:
    """Adds an issue; `project` and `title` are required."""
    _only(wish, ("project", *FIELDS))
    project = str(wish.get("project"))
    if project not in book.projects:
        raise unknown_value("project", project, tuple(book.projects))
    if "title" not in wish:
        raise _wrong("title", "is missing", "Give the issue a title.")
    if len(book.issues) >= MAX_ISSUES:
        raise Refused(409, "full", f"The demo keeps at most {MAX_ISSUES} issues.", "Change an existing issue.")
    blank = Issue(
        key=book.next_key(project),
        project=project,
        title="",
        description="",
        status="todo",
        priority="medium",
        assignee=None,
        reporter=ME,
        labels=(),
        due_on=None,
        created_at=now,
        updated_at=now,
    )
    issue = _apply(book, blank, {name: value for name, value in wish.items() if name != "project"}, now)
    return book.with_issue(issue), issue


def change_issue(book: Book, key: str, wish: Mapping[str, Any], now: str) -> Changed:
    """Changes the fields that the body has, and no others."""
    _only(wish, FIELDS)
    if not wish:
        raise Refused(400, "nothing_to_change", "The body has no field.", f"Send one of: {', '.join(FIELDS)}.")
    issue = _apply(book, find(book, key), wish, now)
    return book.with_issue(issue), issue


def add_comment(book: Book, key: str, wish: Mapping[str, Any], now: str) -> Changed:
    """Adds a comment by the secret's owner."""
    _only(wish, ("text",))
    issue = find(book, key)
    if len(issue.comments) >= MAX_COMMENTS:
        raise Refused(409, "full", f"The demo keeps at most {MAX_COMMENTS} comments.", "Open a new issue.")
    comment = Comment(ME, _text("text", wish.get("text"), TEXT_CHARS), now)
    issue = replace(issue, comments=(*issue.comments, comment), updated_at=now)
    return book.with_issue(issue), issue


def find(book: Book, key: str) -> Issue:
    """The issue with this key, in any case."""
    issue = book.issues.get(key.upper())
    if issue is None:
        raise no_such("issue", key)
    return issue


def _apply(book: Book, issue: Issue, wish: Mapping[str, Any], now: str) -> Issue:
    news = {("assignee" if name == "assigned_to" else name): _read(book, name, wish[name]) for name in wish}
    changed = replace(issue, **news, updated_at=now)
    if changed.status in CLOSED:
        return replace(changed, closed_at=issue.closed_at or now)
    return replace(changed, closed_at=None)


def _read(book: Book, name: str, value: Any) -> Any:
    match name:
        case "title":
            return _text(name, value, TITLE_CHARS)
        case "description":
            return _text(name, value, TEXT_CHARS, empty=True)
        case "status" | "priority":
            allowed = STATUSES if name == "status" else PRIORITIES
            if value not in allowed:
                raise unknown_value(name, value, allowed)
            return value
        case "assigned_to":
            return None if value is None else handle_of(book, name, str(value))
        case "due_on":
            return None if value is None else _day(value)
    return _labels(value)


def _only(wish: Mapping[str, Any], names: tuple[str, ...]) -> None:
    for name in wish:
        if name not in names:
            raise _wrong(str(name)[:40], "is not a field that you can set", f"Use one of: {', '.join(names)}.")


def _text(name: str, value: Any, most: int, *, empty: bool = False) -> str:
    if not isinstance(value, str) or len(value) > most or not (empty or value.strip()):
        raise _wrong(name, "must be a string", f"Use 1 to {most} characters.")
    return value.strip()


def _day(value: Any) -> str:
    try:
        return date.fromisoformat(value).isoformat()
    except (TypeError, ValueError):
        raise _wrong("due_on", "must be a date", "Use the format 2026-12-31, or null for none.") from None


def _labels(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) > MAX_LABELS:
        raise _wrong("labels", "must be a list", f"Use at most {MAX_LABELS} strings.")
    for label in value:
        if not isinstance(label, str) or not _LABEL.match(label):
            raise _wrong(
                "labels", "has an invalid label", "Use lower-case letters, digits and hyphens, at most 31 characters."
            )
    return tuple(dict.fromkeys(value))


def _wrong(name: str, what: str, hint: str) -> Refused:
    return Refused(422, "invalid_field", f"{name} {what}.", hint, {"field": name})

"""Lists and counts of issues. Pure: they take a book and a query, and return a page of issues or counts."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from outlast_demo.tracker.issues import ME, PRIORITIES, STATUSES, UNASSIGNED, Book, Issue
from outlast_demo.tracker.problems import Refused, unknown_value

FILTERS: Final = ("state", "status", "assigned_to", "project", "priority", "label", "text")
PAGING: Final = ("sort", "page_size", "page_token")
STATES: Final = ("open", "closed", "all")
SORTS: Final = ("updated", "created", "priority", "due")
GROUPS: Final = ("status", "priority", "project", "assignee", "label")
PAGE_SIZE: Final = 20
MAX_PAGE_SIZE: Final = 50


def page_of(book: Book, query: Mapping[str, str]) -> dict[str, Any]:
    """One page: `items`, `total` of all pages, `next_page_token` (or None if it is the last)."""
    known(query, (*FILTERS, *PAGING))
    found = ordered(filtered(book, query), query.get("sort", "updated"))
    size, start = (
        _whole("page_size", query.get("page_size"), PAGE_SIZE, 1, MAX_PAGE_SIZE),
        _start(query.get("page_token")),
    )
    items = [issue.plain() for issue in found[start : start + size]]
    following = f"after-{start + size}" if start + size < len(found) else None
    return {"items": items, "total": len(found), "next_page_token": following}


def counts_of(book: Book, query: Mapping[str, str]) -> dict[str, Any]:
    """The numbers of issues by one property, among those that match the filters."""
    known(query, ("by", *FILTERS))
    by = _one_of("by", query.get("by", ""), GROUPS)
    found = filtered(book, query)
    counted = Counter(value for issue in found for value in _values(issue, by))
    order = {"status": STATUSES, "priority": PRIORITIES}.get(by)
    keys = order or [key for key, _ in counted.most_common()]
    groups = [{"value": key, "count": counted[key]} for key in keys if counted[key] or order]
    return {"by": by, "groups": groups, "total": len(found)}


def filtered(book: Book, query: Mapping[str, str]) -> list[Issue]:
    """The issues that match every filter of the query."""
    tests = list(_tests(book, query))
    return [issue for issue in book.issues.values() if all(test(issue) for test in tests)]


def ordered(issues: Iterable[Issue], sort: str) -> list[Issue]:
    """Issues by last change or creation, newest first; by priority, most urgent first; by due date, issues without one
    last."""
    match _one_of("sort", sort, SORTS):
        case "created":
            return sorted(issues, key=lambda one: one.created_at, reverse=True)
        case "priority":
            return sorted(issues, key=lambda one: (PRIORITIES.index(one.priority), one.due_on or "9999", one.key))
        case "due":
            return sorted(issues, key=lambda one: (one.due_on or "9999", one.key))
    return sorted(issues, key=lambda one: one.updated_at, reverse=True)


def known(query: Mapping[str, str], names: tuple[str, ...]) -> None:
    """Refuses unknown parameters: a filter that is silently ignored would give wrong answers."""
    for name in query:
        if name not in names:
            raise Refused(
                400,
                "unknown_parameter",
                f"This path has no parameter {name[:40]!r}.",
                f"Use one of: {', '.join(names)}.",
                {"parameter": name[:40]},
            )


def _tests(book: Book, query: Mapping[str, str]) -> Iterable[Callable[[Issue], bool]]:
    state = _one_of("state", query.get("state", "all"), STATES)
    if state != "all":
        yield lambda one: one.is_open == (state == "open")
    if text := query.get("status"):
        statuses = [_one_of("status", name.strip(), STATUSES) for name in text.split(",")]
        yield lambda one: one.status in statuses
    if text := query.get("assigned_to"):
        handle = handle_of(book, "assigned_to", text)
        yield lambda one: one.assignee == handle
    if text := query.get("project"):
        project = _one_of("project", text.upper(), tuple(book.projects))
        yield lambda one: one.project == project
    if text := query.get("priority"):
        priorities = [_one_of("priority", name.strip(), PRIORITIES) for name in text.split(",")]
        yield lambda one: one.priority in priorities
    if label := query.get("label"):
        yield lambda one: label in one.labels
    if words := query.get("text", "").lower().split():
        yield lambda one: all(word in f"{one.key} {one.title} {one.description}".lower() for word in words)


def handle_of(book: Book, field: str, text: str) -> str | None:
    """A person's handle. `me` is the secret's owner; `none` gives None."""
    if text == UNASSIGNED:
        return None
    return ME if text == "me" else _one_of(field, text, ("me", UNASSIGNED, *book.people))


def _values(issue: Issue, by: str) -> tuple[str, ...]:
    if by == "label":
        return issue.labels
    return (getattr(issue, by) or UNASSIGNED,)


def _one_of(field: str, value: str, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise unknown_value(field, value, allowed)
    return value


def _whole(field: str, text: str | None, default: int, least: int, most: int) -> int:
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and least <= int(text[:9]) <= most):
        raise Refused(
            422, "unknown_value", f"{field} cannot be {text[:40]!r}.", f"Use a number from {least} to {most}."
        )
    return int(text)


def _start(token: str | None) -> int:
    if token is None:
        return 0
    number = token.removeprefix("after-")
    if number == token or not (number.isascii() and number.isdigit()):
        raise Refused(
            422, "bad_page_token", "This page_token is not valid.", "Send the next_page_token of the previous page."
        )
    return int(number[:9])
